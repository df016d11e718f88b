"""seqlab list: the available tasks, models, datasets and other parts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Annotated

import typer

from seqlab.cli.console import answer, answer_json, answer_sentences, suggest
from seqlab.cli.groups import grouped
from seqlab.cli.kinds import KINDS, RUNS
from seqlab.cli.options import AsJson

EXAMPLES = """\b
Examples:
  seqlab list
  seqlab list models
  seqlab list runs
"""
_WHEN_EMPTY = {"metrics": "none from plug-ins; the built-in ones depend on the task"}


def list_choices(
    kind: Annotated[
        str, typer.Argument(help=f"One of: {', '.join(KINDS)}. All by default.", metavar="KIND")
    ] = "",
    as_json: AsJson = False,
) -> None:
    """List tasks, models, datasets, recipes, runs and more."""
    from seqlab.core.errors import UsageError, nearest

    if kind and kind not in KINDS:
        raise UsageError(f"'{kind}' cannot be listed.", cure=nearest(kind, KINDS))
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
    """Print one kind: its groups, and one line per entry, wrapped to the terminal. Aliases share a line."""
    if not entries:
        return answer(f"{kind}: {_WHEN_EMPTY.get(kind, 'none yet')}")
    answer(f"{kind}:")
    for title, members in grouped(kind, list(entries)).items():
        if title:
            answer(f"  {title}")
        indent = "    " if title else "  "
        labels = {name: entries[name] for name in members} if kind == RUNS else _by_label(members, entries)
        width = max(map(len, labels))
        for label, sentence in labels.items():
            answer_sentences(f"{indent}{label:<{width}}  {sentence}", hanging=width + 2)
    return None


def _by_label(names: Iterable[str], entries: Mapping[str, str]) -> dict[str, str]:
    """Summaries by name; names with the same summary are aliases and share an entry.

    >>> _by_label(["csv", "tsv", "text"], {"csv": "Tables.", "tsv": "Tables.", "text": "Lines."})
    {'csv, tsv': 'Tables.', 'text': 'Lines.'}
    """
    aliases: dict[str, list[str]] = {}
    for name in names:
        aliases.setdefault(entries[name], []).append(name)
    return {", ".join(same): sentence for sentence, same in aliases.items()}
