"""Leaked test data: found before training, and excluded from a second set of scores."""

from __future__ import annotations

from typing import Any

import numpy as np
from jaxtyping import Bool

from seqlab.metrics.bootstrap import interval_bounds
from seqlab.pages.sections.leaks import CleanScore, LeakFreeScores
from seqlab.sources.survey.passages import Repeats
from seqlab.sources.survey.report import Survey
from seqlab.tasks.evaluation import Evaluation
from seqlab.tasks.evaluator import Evaluator

MOSTLY = 0.5
"""Minimum share of leaked passages for a whole block to count as leaked."""


def note_leaks(evaluation: Evaluation, evaluator: Evaluator[Any, Any, Any], survey: Survey) -> str:
    """Add a section with the scores without leaked items; returns a sentence, empty if nothing leaked."""
    is_known, unit = _known(evaluation, evaluator, survey)
    if not is_known.any():
        return ""
    unseen = np.flatnonzero(~is_known)
    scores = []
    has_one_truth = len(set(evaluation.truths)) == 1  # then the scores mean nothing
    for score in () if has_one_truth else evaluation.scores:
        items = evaluation.items.get(score.name)
        if (
            len(unseen) and items is not None and items.num_items == len(is_known)
        ):  # a score on a subset of the rows has other items
            clean = items.subset(unseen)
            low, high = interval_bounds(clean)
            scores.append(CleanScore(score.name, clean.full_score(), low, high, on_all=score.value))
    section = LeakFreeScores(evaluation.split, int(is_known.sum()), len(unseen), unit, scores)
    evaluation.sections.append(section)
    return section.describe()


def _known(
    evaluation: Evaluation, evaluator: Evaluator[Any, Any, Any], survey: Survey
) -> tuple[Bool[np.ndarray, " items"], str]:
    """Return which items of the split leaked into training, and the unit of an item."""
    part = evaluation.split
    if leaked := survey.leaked.get(part):
        return np.array(
            [place in leaked for place in evaluator.locate_items(evaluation.split)], dtype=np.bool_
        ), "rows"
    repeats = survey.parts[part].repeats if part in survey.parts else None
    if repeats is None or evaluation.stream is None or not len(repeats.starts):
        return np.zeros(0, np.bool_), ""
    size, ends = evaluation.stream.block_size, evaluation.stream.ends
    return _known_blocks(repeats, ends[size - 1 :: size], -(-len(ends) // size)), f"blocks of {size} tokens"


def _known_blocks(
    repeats: Repeats, ends: np.ndarray[Any, Any], num_blocks: int
) -> Bool[np.ndarray, " blocks"]:
    """Return the blocks of which at least half of the passages occur in the training data."""
    edges = np.concatenate([[0.0], ends[: num_blocks - 1], [np.inf]])
    looked_at, repeated = np.histogram(repeats.looked_at, edges)[0], np.histogram(repeats.starts, edges)[0]
    return (repeated >= MOSTLY * looked_at) & (looked_at > 0)
