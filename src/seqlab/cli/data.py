"""seqlab data: survey a dataset before training on it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from seqlab.cli.console import answer, answer_json, answer_sentences, quoted, say, suggest
from seqlab.cli.options import AsJson, Assignments, Data
from seqlab.core.errors import shortened
from seqlab.pages.numbers import count_of
from seqlab.pages.warnings import rank_warnings
from seqlab.tasks.excerpt import one_line

if TYPE_CHECKING:
    from seqlab.runs.data import RunData
    from seqlab.sources.survey.report import PartSurvey

EXAMPLES = """\b
Examples:
  seqlab data reviews.csv
  seqlab data reviews.csv data.text=review data.label=stars
"""
MOST_LABELS = 12


def data(
    what: Data,
    settings: Assignments = None,
    as_json: AsJson = False,
) -> None:
    """Report rows, lengths, labels, duplicates and leaks."""
    from seqlab.runs.survey.data_survey import survey_parts, survey_warnings
    from seqlab.tasks.spec import find_spec

    notes = _Notes()
    words, opened = _open(what, list(settings or []), notes)
    has_steps = "steps" in opened.parts["train"].columns
    survey = survey_parts(opened.recipe, opened.parts)
    spec = find_spec(opened.recipe.task)
    warnings = opened.warnings + survey_warnings(opened.recipe, survey)
    if as_json:
        return answer_json({"task": opened.recipe.task, "parts": survey.as_json(), "warnings": warnings})
    for name, part in survey.parts.items():
        _show(name, part, unit="steps" if has_steps else spec.unit, is_stream=spec.is_text_stream)
        _show_labels(part.labels, total=part.rows if spec.answers_per_sequence else sum(part.labels.values()))
        _show_leaks(part)
    shown, folded = rank_warnings([warning for warning in warnings if warning not in notes.shown])
    for warning in [*shown, *folded]:
        answer_sentences(f"WARNING: {warning}")
    labels = survey.parts["train"].labels
    if spec.has_class_labels and len(labels) == 1:
        return answer(
            "next:\n  every row has the same label, so there is nothing to learn; set data.label=NAME to change it"
        )
    return suggest([" ".join(["seqlab train", quoted(what), *map(quoted, words)])])


class _Notes:
    """Prints every note once."""

    def __init__(self) -> None:
        self.shown: list[str] = []

    def show(self, sentence: str) -> None:
        if sentence not in self.shown:
            self.shown.append(sentence)
            say(f"  {sentence}")


def _open(what: str, settings: list[str], notes: _Notes) -> tuple[list[str], RunData]:
    """The data, and the settings that can open it: the user's, or those plus skipping all bad rows."""
    from seqlab.runs.data import open_data
    from seqlab.runs.find_recipe import find_recipe, task_of_section
    from seqlab.sources.bad_rows import SKIP_ALL, TooManyBadRows

    recipe, _ = find_recipe(what, settings)
    if why := task_of_section(recipe, what, settings):
        say(f"  {why}")
    try:
        return settings, open_data(recipe, on_note=notes.show)
    except TooManyBadRows as error:
        say(f"  training would fail: {error.message}")
        tolerant = [*settings, SKIP_ALL]
        return tolerant, open_data(find_recipe(what, tolerant)[0], on_note=notes.show)


def _show(name: str, part: PartSurvey, *, unit: str, is_stream: bool) -> None:
    if part.series is not None:
        answer_sentences(f"{name}: {part.rows:,} series")
        for sentence in part.series.sentences():
            answer_sentences(f"    {sentence}")
        return
    row = "line" if is_stream else "row"
    notes = [] if is_stream else [f"{part.duplicates:,} duplicates", f"{part.empty:,} empty"]
    answer_sentences(
        ", ".join([f"{name}: {count_of(part.rows, row)}", f"{part.characters:,} {unit}", *notes])
    )
    spread = (
        {unit: part.length_characters}
        if unit in ("steps", "words")
        else {unit: part.length_characters, "words": part.length_words}
    )
    for counted, lengths in spread.items():
        if lengths is not None:
            answer_sentences(
                f"    {counted} per {row}: minimum {lengths.smallest:,}, median {lengths.median:,}, 90th"
                f" percentile {lengths.ninetieth:,}, 99th {lengths.ninety_ninth:,}, maximum {lengths.largest:,}"
            )


def _show_labels(labels: Mapping[str, int], *, total: int) -> None:
    """The most frequent labels. total: the number of rows, or of tagged words."""
    if not labels:
        return
    ranked = sorted(labels.items(), key=lambda entry: -entry[1])
    more = f" and {len(ranked) - MOST_LABELS:,} more" if len(ranked) > MOST_LABELS else ""
    counts = ", ".join(
        f"{shortened(one_line(label), 30)}: {count:,} ({count / total:.0%})"
        for label, count in ranked[:MOST_LABELS]
    )
    answer_sentences(f"    labels: {counts}{more}")


def _show_leaks(part: PartSurvey) -> None:
    for what, leaks in (
        ("also in train", part.first_leaks),
        ("in train, ignoring case, punctuation and whitespace", part.first_plain_leaks),
        ("near duplicate of a training row", part.first_near_leaks),
        ("near duplicate", part.first_near_duplicates),
        ("same text, different label", part.first_conflicts),
    ):
        for leak in leaks:
            answer_sentences(
                f"    {what}: {leak.where} ="
                f" {leak.also}{'' if leak.likeness == 1 else f' ({leak.likeness:.0%} similar)'}"
            )
