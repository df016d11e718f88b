"""Scores of predicted numbers.

RMSE     = sqrt(mean of (truth - predicted)²)             large errors count most
MAE      = mean of |truth - predicted|
R²       = 1 - Σ (truth - predicted)² / Σ (truth - mean of truth)²     1 is perfect, 0 is as good as the mean of these very truths
Spearman = correlation of the ranks, equal values sharing theirs     whether the order is right, whatever the scale
"""

from __future__ import annotations

import math

import numpy as np
from jaxtyping import Float, Int

from seqlab.metrics.items import Chosen, Items, Statistics, Sums, means, ratio

Numbers = Float[np.ndarray, " examples"]


def rmses(truth: Numbers, predicted: Numbers) -> Sums:
    """What the RMSE is made of.

    >>> rmses(np.array([1.0, 2.0]), np.array([1.0, 4.0])).whole() == math.sqrt(2)
    True
    """
    table = np.stack([(truth - predicted) ** 2, np.ones(len(truth))], axis=1)
    return Sums(np.arange(len(table)), table, lambda sums: np.sqrt(ratio(sums)))


def maes(truth: Numbers, predicted: Numbers) -> Sums:
    """What the MAE is made of."""
    return means(np.abs(truth - predicted))


def r_squareds(truth: Numbers, predicted: Numbers) -> Sums:
    """What R² is made of."""
    centred = truth - truth.mean()  # the spread is the same, and the sums stay small
    table = np.stack([(truth - predicted) ** 2, centred**2, centred, np.ones(len(truth))], axis=1)
    return Sums(np.arange(len(table)), table, _explained)


def spearmans(truth: Numbers, predicted: Numbers) -> Items:
    """What the rank correlation is made of."""
    return _Ranks(truth, predicted)


def _explained(sums: Float[np.ndarray, "resamples parts"]) -> Statistics:
    errors, squares, total, count = sums.T
    spread = squares - total**2 / count
    explained: Statistics = 1 - np.divide(errors, spread, out=np.ones(len(sums)), where=spread > 1e-12 * squares)
    return explained


class _Ranks(Items):
    """Examples whose values are sorted once: the ranks of a choice of them follow from how often each comes."""

    def __init__(self, truth: Numbers, predicted: Numbers) -> None:
        self.num_items = len(truth)
        self._truth, self._predicted = (np.unique(values, return_inverse=True)[1] for values in (truth, predicted))

    def value(self, chosen: Chosen) -> float:
        times = np.bincount(chosen, minlength=self.num_items).astype(float)
        one, two = _centred_ranks(self._truth, times), _centred_ranks(self._predicted, times)
        below = math.sqrt(float((times * one**2).sum() * (times * two**2).sum()))
        return float((times * one * two).sum()) / below if below > 0 else 0.0


def _centred_ranks(places: Int[np.ndarray, " examples"], times: Numbers) -> Numbers:
    """Ranks around their mean; equal values share the middle of their ranks."""
    counts = np.bincount(places, weights=times)
    ranks: Numbers = (np.cumsum(counts) - counts / 2)[places]
    return ranks - (ranks * times).sum() / times.sum()
