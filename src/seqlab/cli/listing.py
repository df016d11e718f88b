"""seqlab list: what there is to choose from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Annotated

import typer

from seqlab.cli.console import answer, answer_json, answer_sentences, suggest
from seqlab.cli.groups import grouped
from seqlab.cli.kinds import KINDS

_WHEN_EMPTY = {"metrics": "none from plug-ins; a task's own are in its report"}


def list_choices(
    kind: Annotated[
        str, typer.Argument(help=f"One of: {', '.join(KINDS)}. All when left out.", metavar="KIND")
    ] = "",
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object on standard output.")] = False,
) -> None:
    """List tasks, models, cells, attention scores, positions, optimizers, tokens, formats, metrics, datasets,
    recipes, studies or runs.
    """
    from seqlab.core.errors import UsageError, nearest

    if kind and kind not in KINDS:
        raise UsageError(f"there is no list of '{kind}'.", cure=nearest(kind, KINDS))
    chosen = {name: listed.summaries() for name, listed in KINDS.items() if kind in ("", name)}
    if as_json:
        return answer_json(chosen)
    for name, entries in chosen.items():
        _show(name, entries)
    uses = [
        KINDS[name].command(next(iter(grouped(name, list(entries)).values()))[0])
        for name, entries in chosen.items()
        if entries and (kind or name == "datasets")
    ]
    return suggest(uses or ["seqlab train FILE"])


def _show(kind: str, entries: Mapping[str, str]) -> None:
    """One kind: its groups, and a line for each entry that fits the terminal. Names of the same thing share one."""
    if not entries:
        return answer(f"{kind}: {_WHEN_EMPTY.get(kind, 'none yet')}")
    answer(f"{kind}:")
    for title, members in grouped(kind, list(entries)).items():
        if title:
            answer(f"  {title}")
        indent = "    " if title else "  "
        labels = {sentence: ", ".join(names) for sentence, names in _by_sentence(members, entries).items()}
        width = max(map(len, labels.values()))
        for sentence, label in labels.items():
            answer_sentences(f"{indent}{label:<{width}}  {sentence}", hanging=width + 2)
    return None


def _by_sentence(names: Iterable[str], entries: Mapping[str, str]) -> dict[str, list[str]]:
    """
    >>> _by_sentence(["csv", "tsv", "text"], {"csv": "Tables.", "tsv": "Tables.", "text": "Lines."})
    {'Tables.': ['csv', 'tsv'], 'Lines.': ['text']}
    """
    named: dict[str, list[str]] = {}
    for name in names:
        named.setdefault(entries[name], []).append(name)
    return named
