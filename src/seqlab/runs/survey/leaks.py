"""Test data that training has seen: found before training, and left out of a second score beside the
first.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from jaxtyping import Bool

from seqlab.metrics.bootstrap import interval_bounds
from seqlab.pages.sections.leaks import CleanScore, WithoutLeaks
from seqlab.sources.survey.passages import Repeats
from seqlab.sources.survey.report import Survey
from seqlab.tasks.evaluation import Evaluation
from seqlab.tasks.evaluator import Evaluator

MOSTLY = 0.5
"""Share of a block's passages from which the block counts as known."""


def note_leaks(evaluation: Evaluation, evaluator: Evaluator[Any, Any, Any], survey: Survey) -> str:
    """Add the scores without what training has seen as a section; returns a sentence, empty where nothing was
    seen.
    """
    is_known, unit = _known(evaluation, evaluator, survey)
    if not is_known.any():
        return ""
    unseen = np.flatnonzero(~is_known)
    scores = []
    for score in evaluation.scores:
        items = evaluation.items.get(score.name)
        if (
            len(unseen) and items is not None and items.num_items == len(is_known)
        ):  # a score over some rows only has other items
            clean = items.subset(unseen)
            low, high = interval_bounds(clean)
            scores.append(CleanScore(score.name, clean.full_score(), low, high, on_all=score.value))
    section = WithoutLeaks(evaluation.split, int(is_known.sum()), len(unseen), unit, scores)
    evaluation.sections.append(section)
    return section.describe()


def _known(
    evaluation: Evaluation, evaluator: Evaluator[Any, Any, Any], survey: Survey
) -> tuple[Bool[np.ndarray, " items"], str]:
    """Which items of the split training has seen, and what an item is."""
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
    """Blocks of which at least half the passages stand in training."""
    edges = np.concatenate([[0.0], ends[: num_blocks - 1], [np.inf]])
    looked_at, repeated = np.histogram(repeats.looked_at, edges)[0], np.histogram(repeats.starts, edges)[0]
    return (repeated >= MOSTLY * looked_at) & (looked_at > 0)
