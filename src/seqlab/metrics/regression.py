"""Regression metrics: RMSE, MAE, R² and Spearman correlation.

RMSE     = sqrt(mean of (truth - predicted)²)                           large errors count most
MAE      = mean of |truth - predicted|
R²       = 1 - Σ (truth - predicted)² / Σ (truth - mean of truth)²      1 is perfect, 0 equals predicting the mean
Spearman = correlation of the ranks; equal values share their rank      whether the order is right, on any scale
"""

from __future__ import annotations

import math

import numpy as np
from jaxtyping import Float, Int

from seqlab.metrics.items import Indices, Items, Statistics, SumItems, mean_items, ratio_of_sums

Values = Float[np.ndarray, " examples"]


def rmse_items(targets: Values, predicted: Values) -> SumItems:
    """The items of the RMSE.

    >>> rmse_items(np.array([1.0, 2.0]), np.array([1.0, 4.0])).full_score() == math.sqrt(2)
    True
    """
    table = np.stack([(targets - predicted) ** 2, np.ones(len(targets))], axis=1)
    return SumItems(np.arange(len(table)), table, lambda sums: np.sqrt(ratio_of_sums(sums)))


def mae_items(targets: Values, predicted: Values) -> SumItems:
    """The items of the MAE."""
    return mean_items(np.abs(targets - predicted))


def r_squared_items(targets: Values, predicted: Values) -> SumItems:
    """The items of R²."""
    centered = targets - targets.mean()  # the spread is the same, and the sums stay small
    table = np.stack([(targets - predicted) ** 2, centered**2, centered, np.ones(len(targets))], axis=1)
    return SumItems(np.arange(len(table)), table, _r_squared_from_sums)


def spearman_items(targets: Values, predicted: Values) -> Items:
    """The items of the rank correlation."""
    return _RankItems(targets, predicted)


def _r_squared_from_sums(sums: Float[np.ndarray, "resamples parts"]) -> Statistics:
    errors, squares, total, count = sums.T
    variance = squares - total**2 / count
    explained: Statistics = 1 - np.divide(
        errors, variance, out=np.ones(len(sums)), where=variance > 1e-12 * squares
    )
    return explained


class _RankItems(Items):
    """Examples sorted once by value; the ranks of a selection follow from the count of each example."""

    def __init__(self, targets: Values, predicted: Values) -> None:
        self.num_items = len(targets)
        self._target_ids, self._predicted_ids = (
            np.unique(values, return_inverse=True)[1] for values in (targets, predicted)
        )

    def value(self, indices: Indices) -> float:
        counts_by_item = np.bincount(indices, minlength=self.num_items).astype(float)
        target_ranks, predicted_ranks = (
            _centered_ranks(self._target_ids, counts_by_item),
            _centered_ranks(self._predicted_ids, counts_by_item),
        )
        denominator = math.sqrt(
            float((counts_by_item * target_ranks**2).sum() * (counts_by_item * predicted_ranks**2).sum())
        )
        return (
            float((counts_by_item * target_ranks * predicted_ranks).sum()) / denominator
            if denominator > 0
            else 0.0
        )


def _centered_ranks(value_ids: Int[np.ndarray, " examples"], counts_by_item: Values) -> Values:
    """Centered ranks; equal values share their mean rank."""
    counts = np.bincount(value_ids, weights=counts_by_item)
    ranks: Values = (np.cumsum(counts) - counts / 2)[value_ids]
    return ranks - (ranks * counts_by_item).sum() / counts_by_item.sum()
