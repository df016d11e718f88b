"""Scores after training: an aligned table in a terminal, one sentence per score elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from seqlab.cli.console import answer_sentences
from seqlab.cli.fit_table import fit_table
from seqlab.cli.units import value_text

if TYPE_CHECKING:
    from seqlab.metrics.score import Score

NUMBERS = ("value", "95% CI", "baseline")
VERDICTS = {
    "better": "better, not clearly",
    "worse": "worse, not clearly",
    "too few": "too few rows",
    "incomparable": "",
}


def show_scores(split: str, scores: Sequence[Score]) -> None:
    """Print the scores; scripts that read a pipe get the sentences."""
    if not sys.stdout.isatty():
        for score in scores:
            answer_sentences(f"{split}: {score.describe()}")
        return
    for line in score_table(split, scores):
        answer_sentences(line)


def score_table(split: str, scores: Sequence[Score]) -> list[str]:
    """
    >>> from seqlab.metrics.score import Score
    >>> print("\\n".join(score_table("test", [Score("macro_f1", 0.9, 0.88, 0.92, 0.5, "guessing"), Score("loss", 0.31)])))
    test       value            95% CI  baseline
    macro_f1  0.9000  0.8800 to 0.9200    0.5000
    loss      0.3100
    baseline: guessing
    """
    rows = [
        {
            split: score.name,
            "value": value_text(score.value),
            "95% CI": _interval(score),
            "baseline": "" if score.baseline is None else value_text(score.baseline),
            "": VERDICTS.get(score.verdict or "", score.verdict or ""),
        }
        for score in scores
    ]
    notes = [f"{score.name}: {score.note}" for score in scores if score.note]
    return [*fit_table(rows, numbers=NUMBERS), *_baselines(scores), *notes]


def _interval(score: Score) -> str:
    if score.low is None or score.high is None:
        return ""
    return f"{value_text(score.low)} to {value_text(score.high)}"


def _baselines(scores: Sequence[Score]) -> list[str]:
    """What the baselines are: one line if all are the same."""
    by_name: dict[str, list[str]] = {}
    for score in scores:
        if score.baseline is not None:
            by_name.setdefault(score.baseline_name or "the baseline", []).append(score.name)
    if len(by_name) == 1:
        return [f"baseline: {next(iter(by_name))}"]
    return [f"baseline of {', '.join(names)}: {baseline}" for baseline, names in by_name.items()]
