"""seqlab data: what is in the data, before anything is trained on it."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from seqlab.cli.console import answer, answer_json, say

if TYPE_CHECKING:
    from seqlab.sources.survey import PartSurvey


def data(
    what: Annotated[str, typer.Argument(help="A recipe, a built-in dataset, or your file or folder.")],
    settings: Annotated[list[str] | None, typer.Argument(metavar="[KEY=VALUE]...", help="Settings by their dotted names, as in a recipe.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object on standard output.")] = False,
) -> None:
    """Report rows, lengths, labels, duplicates and leaks between the parts."""
    from seqlab.runs.data import open_data
    from seqlab.runs.finding import find_recipe
    from seqlab.sources.survey import survey

    recipe, _ = find_recipe(what, settings or [])
    opened = open_data(recipe)
    for reason in opened.reasons:
        say(f"  {reason}")
    chosen = opened.recipe.data
    found = survey(opened.parts, text="steps" if "steps" in opened.parts["train"].columns else chosen.text, label=chosen.label)
    if as_json:
        return answer_json(
            {"task": opened.recipe.task, "parts": {name: asdict(part) for name, part in found.parts.items()}, "warnings": found.warnings}
        )
    for name, part in found.parts.items():
        _show(name, part)
    for warning in found.warnings:
        answer(f"WARNING: {warning}")
    answer(f"next:\n  seqlab train {what}{''.join(' ' + word for word in settings or [])}")
    return None


def _show(name: str, part: PartSurvey) -> None:
    answer(f"{name}: {part.rows:,} rows, {part.characters:,} characters, {part.duplicates:,} duplicates, {part.empty:,} empty")
    for unit, lengths in (("characters", part.length_characters), ("words", part.length_words)):
        if lengths is not None:
            answer(
                f"    {unit} per row: {lengths.smallest:,} at least, {lengths.median:,} median, {lengths.ninetieth:,} at 90 %, "
                f"{lengths.ninety_ninth:,} at 99 %, {lengths.largest:,} at most"
            )
    if part.labels:
        total = sum(part.labels.values())
        ranked = sorted(part.labels.items(), key=lambda entry: -entry[1])
        more = f" and {len(ranked) - 12} more" if len(ranked) > 12 else ""
        answer("    labels: " + ", ".join(f"{label} {count:,} ({count / total:.0%})" for label, count in ranked[:12]) + more)
