"""Warn about scores that do not beat their baselines. Does not import torch, so that commands can use it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from seqlab.metrics.score import beaten_scores, uncompared_scores

if TYPE_CHECKING:
    from seqlab.tasks.evaluation import Evaluation

BEATEN = "the model does not beat its baseline"


def baseline_warnings(evaluation: Evaluation) -> list[str]:
    """Return one warning for each score that does not beat its baseline or cannot be compared with it."""
    beaten = [f"{BEATEN}: {score.describe()}" for score in beaten_scores(evaluation.scores)]
    uncompared = [
        f"{evaluation.split}: {score.difference.describe('the model', 'its baseline')}"
        for score in uncompared_scores(evaluation.scores)
        if score.difference is not None
    ]
    return beaten + uncompared
