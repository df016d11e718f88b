"""Prints a comparison of runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from seqlab.cli.console import answer, answer_sentences, say
from seqlab.cli.fit_table import fit_table
from seqlab.core.errors import shortened
from seqlab.tasks.excerpt import one_line

if TYPE_CHECKING:
    from seqlab.runs.compare.by_length import ByLength
    from seqlab.runs.compare.compare import Comparison

MOST_DISAGREEMENTS = 3
MOST_SETTINGS = 12


def show_comparison(comparison: Comparison) -> None:
    """Print the table, then the settings that differ, the tests, and examples of disagreement."""
    from seqlab.runs.compare.comparison_page import table

    lines = fit_table(table(comparison))
    for line in lines:
        answer(line)
    if any("[" in line for line in lines):
        answer("in brackets: 95% CI")
    _show_baselines(comparison)
    _show_settings(comparison)
    for warning in comparison.warnings:
        say(f"WARNING: {warning}")
    _show_differences(comparison)
    if comparison.by_length:
        _show_lengths(comparison.by_length)
    for name, counts in comparison.mcnemars.items():
        answer_sentences(
            f"examples that only {name} gets right: {counts.only_second:,}, only {comparison.reference.name}:"
            f" {counts.only_first:,}, both: {counts.both:,}, neither: {counts.neither:,}; McNemar's test p ="
            f" {counts.p:.2g}"
        )
    _show_disagreements(comparison)


def _show_baselines(comparison: Comparison) -> None:
    """Name the baselines of the table's baseline column."""
    score = comparison.score_names[0]
    names = {competitor.score(score).baseline_name for competitor in comparison.competitors} - {""}
    if names:
        answer(f"baseline: {score} of {' or '.join(sorted(names))}")


def _show_differences(comparison: Comparison) -> None:
    """One line per score and model; scores with the same sentence share a line."""
    sentences = dict[str, list[str]]()
    for score, differences in comparison.differences.items():
        for name, difference in differences.items():
            sentence = difference.describe(name, comparison.reference.name)
            sentences.setdefault(sentence, []).append(score)
    for sentence, scores in sentences.items():
        answer_sentences(f"{', '.join(scores)}: {sentence}")


def _show_settings(comparison: Comparison) -> None:
    """Print the settings that differ; models of different kinds differ in many."""
    rows = comparison.settings_diff
    if not rows:
        return answer("the runs have the same settings")
    answer(
        "settings that differ:"
        if len(rows) <= MOST_SETTINGS
        else f"settings that differ ({MOST_SETTINGS} of {len(rows)}; the page lists all):"
    )
    for line in fit_table(rows[:MOST_SETTINGS]):
        answer(f"    {line}")
    return None


def _show_disagreements(comparison: Comparison) -> None:
    if comparison.num_disagreements:
        answer(
            f"the runs disagree on {comparison.num_disagreements:,} of"
            f" {len(comparison.reference.first.answers):,} examples; the page shows some:"
        )
    for example in comparison.disagreements[:MOST_DISAGREEMENTS]:
        predictions = ", ".join(
            f"{name}: {shortened(prediction, 60)}" for name, prediction in example.answers.items()
        )
        answer_sentences(f"    {example.where}  truth {shortened(example.truth, 60)}; {predictions}")
        answer_sentences(f"        {shortened(one_line(example.text), 120)}")


def _show_lengths(by_length: ByLength) -> None:
    """Print the scores by source length."""
    from seqlab.runs.compare.comparison_page import shown_part

    answer(f"{by_length.score} by {by_length.unit} in the source:")
    rows = [
        {
            by_length.unit: first.name,
            **{name: shown_part(parts[place]) for name, parts in by_length.parts.items()},
            "rows": f"{first.count:,}",
        }
        for place, first in enumerate(next(iter(by_length.parts.values())))
    ]
    for line in fit_table(rows):
        answer(f"    {line}")
