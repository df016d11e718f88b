"""seqlab data: what is in the data, before anything is trained on it."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from seqlab.cli.console import answer, answer_json, one_line, quoted, say, suggest
from seqlab.core.errors import shortened

if TYPE_CHECKING:
    from seqlab.sources.survey import PartSurvey

EXAMPLES = """\b
Examples:
  seqlab data reviews.csv
  seqlab data reviews.csv data.text=review data.label=stars
"""
MOST_LABELS = 12


def data(
    what: Annotated[str, typer.Argument(help="A recipe, a built-in dataset, or your file or folder.", metavar="WHAT")],
    settings: Annotated[list[str] | None, typer.Argument(metavar="KEY=VALUE", help="Settings by their dotted names, as in a recipe.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object on standard output.")] = False,
) -> None:
    """Report rows, lengths, labels, repeats and leaks."""
    from seqlab.runs.data import open_data
    from seqlab.runs.finding import find_recipe
    from seqlab.sources.survey import survey

    recipe, _ = find_recipe(what, settings or [])
    opened = open_data(recipe)
    for reason in opened.reasons:
        say(f"  {reason}")
    chosen = opened.recipe.data
    steps = "steps" in opened.parts["train"].columns
    found = survey(opened.parts, text="steps" if steps else chosen.text, label=chosen.label)
    is_stream = opened.recipe.task == "language_model"
    warnings = [warning for warning in found.warnings if not (is_stream and _is_usual_in_a_text(warning))]
    if as_json:
        return answer_json({"task": opened.recipe.task, "parts": {name: asdict(part) for name, part in found.parts.items()}, "warnings": warnings})
    for name, part in found.parts.items():
        _show(name, part, unit="steps" if steps else "words" if opened.recipe.task == "tagging" else "characters", is_stream=is_stream)
    for warning in warnings:
        answer(f"WARNING: {warning}")
    return suggest([" ".join(["seqlab train", quoted(what), *map(quoted, settings or [])])])


def _is_usual_in_a_text(warning: str) -> bool:
    """Empty and repeated lines, which mean nothing in the stream that a language model reads."""
    return "empty texts" in warning or "repeat an earlier one" in warning or "also stand in train" in warning


def _show(name: str, part: PartSurvey, *, unit: str, is_stream: bool) -> None:
    rows = "lines" if is_stream else "rows"
    notes = [] if is_stream else [f"{part.duplicates:,} repeated", f"{part.empty:,} empty"]
    answer(", ".join([f"{name}: {part.rows:,} {rows}", f"{part.characters:,} {unit}", *notes]))
    spread = {unit: part.length_characters} if unit in ("steps", "words") else {unit: part.length_characters, "words": part.length_words}
    for counted, lengths in spread.items():
        if lengths is not None:
            answer(
                f"    {counted} per {rows[:-1]}: {lengths.smallest:,} at least, {lengths.median:,} median, {lengths.ninetieth:,} at 90 %, "
                f"{lengths.ninety_ninth:,} at 99 %, {lengths.largest:,} at most"
            )
    if part.labels:
        total = sum(part.labels.values())
        ranked = sorted(part.labels.items(), key=lambda entry: -entry[1])
        more = f" and {len(ranked) - MOST_LABELS:,} more" if len(ranked) > MOST_LABELS else ""
        shown = ", ".join(f"{shortened(one_line(label), 30)}: {count:,} ({count / total:.0%})" for label, count in ranked[:MOST_LABELS])
        answer(f"    labels  {shown}{more}")
