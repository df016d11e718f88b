"""Sections of a report out of scores and predictions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict

from seqlab.metrics.score import Score
from seqlab.metrics.slices import ScoreSlices
from seqlab.pages.report_data import ClassLine
from seqlab.pages.sections.slices import SliceChart, SlicedScores, SlicePart


def sliced_scores(cuts: Iterable[ScoreSlices], scores: Sequence[Score]) -> SlicedScores:
    """Scores on parts of the data beside the same score on everything."""
    whole = {score.name: score.value for score in scores}
    return SlicedScores(
        [
            SliceChart(
                cut.by,
                cut.score,
                cut.unit,
                [SlicePart(**asdict(part)) for part in cut.parts],
                whole=whole.get(cut.score),
            )
            for cut in cuts
        ]
    )


def class_lines(
    names: Sequence[str],
    precision: Sequence[float],
    recall: Sequence[float],
    f1: Sequence[float],
    counts: Sequence[int],
) -> list[ClassLine]:
    """One line for every class."""
    return [ClassLine(*line) for line in zip(names, precision, recall, f1, counts, strict=True)]
