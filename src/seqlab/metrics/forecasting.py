"""Scores of forecasts: errors of the point forecast, and of quantiles.

    MAE    = mean |y - ŷ|                                 RMSE = sqrt(mean (y - ŷ)²)
    MASE   = mean |y - ŷ| / s                             s: mean |y_t - y_{t-m}| of the series in training, m the season
    sMAPE  = mean 200 |y - ŷ| / (|y| + |ŷ|)               in percent; 0 where both are 0
    OWA    = (sMAPE / sMAPE_naive2 + MASE / MASE_naive2) / 2
    pinball_q = max(q (y - ŷ_q), (q - 1) (y - ŷ_q))       for the quantile of level q
    CRPS   = 2 ∫ pinball_q dq                             a sum over the levels, each weighted by the part of (0, 1) nearest to it
    coverage = share of y within a band

Hyndman and Koehler 2006 (MASE); Makridakis et al. 2020 (sMAPE and OWA of the M4 competition); Gneiting and Raftery 2007,
"Strictly Proper Scoring Rules, Prediction, and Estimation" (pinball loss and CRPS).

Values are arrays (forecasts, horizon); a truth that is NaN is not scored. An item is a group of forecasts, such as those
of one series, because errors within a group are not independent.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from seqlab.metrics.items import ScoreFromSums, Statistics, SumItems, ratio_of_sums

Values = Float[np.ndarray, "forecasts horizon"]
Quantiles = Float[np.ndarray, "forecasts horizon levels"]
Groups = Int[np.ndarray, " forecasts"]


@dataclass(frozen=True)
class ForecastErrors:
    """A point forecast and its truth, whose scores are computed over the same items."""

    truth: Values
    predicted: Values
    groups: Groups
    """The item that each forecast belongs to."""

    def mae(self) -> SumItems:
        return self._mean(np.abs(self.truth - self.predicted))

    def rmse(self) -> SumItems:
        return self._mean((self.truth - self.predicted) ** 2, lambda sums: np.sqrt(ratio_of_sums(sums)))

    def mase(self, scales: Float[np.ndarray, " forecasts"]) -> SumItems:
        """scales: the seasonal-naive error in training of the series of each forecast."""
        return self._mean(np.abs(self.truth - self.predicted) / scales[:, None])

    def smape(self) -> SumItems:
        return self._mean(smape_terms(self.truth, self.predicted))

    def owa(self, naive2: Values, scales: Float[np.ndarray, " forecasts"]) -> SumItems:
        """Return the overall weighted average of the M4 competition, relative to the forecasts of Naive2."""
        terms = [
            term
            for predicted in (self.predicted, naive2)
            for term in (
                smape_terms(self.truth, predicted),
                np.abs(self.truth - predicted) / scales[:, None],
            )
        ]
        table = np.stack([self._sums(term) for term in terms], axis=1)
        return SumItems(np.arange(len(table)), table, _owa_from_sums)

    def _mean(self, terms: Values, score: ScoreFromSums = ratio_of_sums) -> SumItems:
        return _mean_of_known(terms, self.truth, self.groups, score)

    def _sums(self, terms: Values) -> Float[np.ndarray, " items"]:
        return _sums_of_known(terms, self.truth, self.groups)


@dataclass(frozen=True)
class QuantileErrors:
    """Forecast quantiles and their truth."""

    truth: Values
    quantiles: Quantiles
    levels: Sequence[float]
    groups: Groups

    def pinball(self) -> SumItems:
        """Return the mean over all levels."""
        return _mean_of_known(self._losses().mean(axis=2), self.truth, self.groups)

    def crps(self) -> SumItems:
        return _mean_of_known(2 * self._losses() @ level_weights(self.levels), self.truth, self.groups)

    def coverage(self, low: float, high: float) -> SumItems:
        """Return the share of truths between two levels."""
        return _mean_of_known(self.is_within(low, high).astype(float), self.truth, self.groups)

    def is_within(self, low: float, high: float) -> np.ndarray:
        below, above = (self.quantiles[:, :, list(self.levels).index(level)] for level in (low, high))
        return (below <= self.truth) & (self.truth <= above)

    def coverage_by_step(self, low: float, high: float) -> Float[np.ndarray, " horizon"]:
        """Return the share of truths within the band at every step of the horizon."""
        is_known = np.isfinite(self.truth)
        shares: Float[np.ndarray, " horizon"] = (self.is_within(low, high) & is_known).sum(
            axis=0
        ) / np.maximum(is_known.sum(axis=0), 1)
        return shares

    def _losses(self) -> Quantiles:
        error = self.truth[:, :, None] - self.quantiles
        levels = np.asarray(self.levels)
        losses: Quantiles = np.maximum(levels * error, (levels - 1) * error)
        return losses


def smape_terms(truth: Values, predicted: Values) -> Values:
    """
    >>> smape_terms(np.array([[1.0, 0.0]]), np.array([[3.0, 0.0]])).tolist()
    [[100.0, 0.0]]
    """
    size = np.abs(truth) + np.abs(predicted)
    terms: Values = 200 * np.abs(truth - predicted) / np.where(size > 0, size, 1.0)
    return terms


def seasonal_scale(values: Float[np.ndarray, " steps"], season: int) -> float:
    """Return the mean absolute seasonal change of a series, by which MASE divides; NaN if it is constant.

    >>> seasonal_scale(np.array([1.0, 2.0, 4.0, 8.0]), 2), seasonal_scale(np.array([1.0, 2.0]), 7)
    (4.5, 1.0)
    """
    lag = season if len(values) > season else 1
    changes = np.abs(values[lag:] - values[:-lag])
    changes = changes[np.isfinite(changes)]
    return float(changes.mean()) if changes.any() else float("nan")


def level_weights(levels: Sequence[float]) -> Float[np.ndarray, " levels"]:
    """Return the part of (0, 1) that is nearest to each level.

    >>> level_weights([0.1, 0.5, 0.9]).round(9).tolist()
    [0.3, 0.4, 0.3]
    """
    middles = (np.asarray(levels[:-1]) + np.asarray(levels[1:])) / 2
    weights: Float[np.ndarray, " levels"] = np.diff(np.concatenate([[0.0], middles, [1.0]]))
    return weights


def _owa_from_sums(sums: Float[np.ndarray, "resamples parts"]) -> Statistics:
    smape, mase, naive_smape, naive_mase = sums.T
    score: Statistics = (smape / naive_smape + mase / naive_mase) / 2
    return score


def _mean_of_known(
    terms: Values, truth: Values, groups: Groups, score: ScoreFromSums = ratio_of_sums
) -> SumItems:
    table = np.stack([_sums_of_known(part, truth, groups) for part in (terms, np.ones_like(terms))], axis=1)
    return SumItems(np.arange(len(table)), table, score)


def _sums_of_known(terms: Values, truth: Values, groups: Groups) -> Float[np.ndarray, " items"]:
    """Sum over the forecasts of each item, without steps whose truth is missing."""
    by_forecast = np.where(np.isfinite(truth), terms, 0.0).sum(axis=1)
    sums: Float[np.ndarray, " items"] = np.bincount(groups, weights=by_forecast)
    return sums
