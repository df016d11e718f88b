"""seqlab explain: what a section or a setting means, from the same place that checks it."""

from __future__ import annotations

from typing import Annotated

import typer

from seqlab.cli.console import answer, answer_json


def explain(
    topic: Annotated[str, typer.Argument(help="A section (training), a setting (training.clip_norm), a model, dataset, task or recipe.")] = "",
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object on standard output.")] = False,
) -> None:
    """Explain a section, a setting or a name."""
    from seqlab.cli.listing import KINDS
    from seqlab.core.errors import UsageError, nearest
    from seqlab.recipes.recipe import SECTIONS, settings_help

    if not topic:
        answer("sections: " + ", ".join(SECTIONS))
        answer("next:\n  seqlab explain training")
        return
    entries = [entry for section in SECTIONS for entry in settings_help(section)]
    wanted = [entry for entry in entries if topic in (entry.name, entry.name.partition(".")[0], entry.name.partition(".")[2])]
    named = {f"{kind[:-1]} {topic}": KINDS[kind]()[topic] for kind in ("tasks", "models", "tokens", "datasets", "recipes") if topic in KINDS[kind]()}
    if not wanted and not named:
        names = {entry.name for entry in entries} | set(SECTIONS) | {name for kind in KINDS.values() for name in kind()}
        raise UsageError(f"there is nothing called '{topic}'.", cure=nearest(topic, names))
    if as_json:
        settings = [{"name": entry.name, "kind": entry.kind, "default": entry.default, "help": entry.sentence} for entry in wanted]
        answer_json({"topic": topic, "settings": settings, "names": named})
        return
    for name, sentence in named.items():
        answer(f"{name}: {sentence}")
    shown = set()
    for entry in wanted:
        line = f"{entry.name} ({entry.kind}, default {entry.default!r})\n    {entry.sentence}"
        if line not in shown:
            answer(line)
            shown.add(line)
