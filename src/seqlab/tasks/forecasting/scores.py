"""Scores of forecasts with 95% CIs, next to the best forecast without a network.

Consecutive forecasts overlap, so the items of the bootstrap are whole series, or blocks of origins as long as the horizon.
With several targets, errors are divided by the seasonal-naive error of each target, since their units differ.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from seqlab.metrics.forecasting import ForecastErrors, QuantileErrors
from seqlab.metrics.items import Items
from seqlab.metrics.paired_difference import MIN_COMPARED_ITEMS, too_few
from seqlab.metrics.score import Score
from seqlab.metrics.score_with_interval import score_with_interval
from seqlab.pages.numbers import format_number

Truth = Float[np.ndarray, "windows horizon targets"]
Quantiles = Float[np.ndarray, "windows horizon targets levels"]
Scales = Float[np.ndarray, "windows targets"]
Windows = Int[np.ndarray, "windows 2"]

COVERAGES = {"coverage_80": (0.1, 0.9), "coverage_95": (0.025, 0.975)}
METHODS = {
    "mae": "mean absolute error of the median",
    "rmse": "root mean squared error of the median",
    "mase": "mean absolute error of the median in units of the seasonal-naive error in training",
    "smape": "symmetric mean absolute percentage error of the median, 0 to 200",
    "owa": "mean of sMAPE and MASE, each divided by that of Naive2 (M4 competition)",
    "pinball": "mean pinball loss of all levels",
    "crps": "continuous ranked probability score, from the quantiles",
    "coverage_80": "share of true values within the 80% band",
    "coverage_95": "share of true values within the 95% band",
}


@dataclass(frozen=True, eq=False)
class ForecastTruth:
    """What the forecasts of a split are compared with."""

    values: Truth
    """NaN where a value is missing"""
    scales: Scales
    """The seasonal-naive error in training of the series of each window; NaN if it was constant"""
    items: Int[np.ndarray, " windows"]
    """The item that each window belongs to"""
    unit: str
    """What an item is, in the plural"""
    has_many_series: bool = False

    @classmethod
    def of(cls, values: Truth, scales: Scales, windows: Windows) -> ForecastTruth:
        items, unit = score_items(windows, horizon=values.shape[1])
        return cls(values, scales, items, unit, len(np.unique(windows[:, 0])) > 1)

    @property
    def num_items(self) -> int:
        return int(self.items.max(initial=-1)) + 1

    @property
    def unit_scales(self) -> Scales:
        """What errors are divided by: 1 for a single target, otherwise its scale."""
        return self.scales if self.values.shape[2] > 1 else np.ones_like(self.scales)

    @property
    def has_scale(self) -> bool:
        return bool(np.isfinite(self.scales).any())


def score_items(windows: Windows, *, horizon: int) -> tuple[Int[np.ndarray, " windows"], str]:
    """Return the independent unit of each window: its series, or a block of origins if there are few series.

    >>> score_items(np.array([[0, 10], [0, 12], [0, 13], [0, 16]]), horizon=3)
    (array([0, 0, 1, 2]), 'blocks')
    """
    _, series = np.unique(windows[:, 0], return_inverse=True)
    origins = windows[:, 1]
    _, blocks = np.unique((origins - min(origins, default=0)) // horizon, return_inverse=True)
    num_series, num_blocks = (int(part.max(initial=-1)) + 1 for part in (series, blocks))
    if num_series >= MIN_COMPARED_ITEMS or num_series > num_blocks:
        return series, "series"
    return blocks, "blocks"  # several series in one block: what happens at one time happens to all


def forecast_items(
    truth: ForecastTruth, quantiles: Quantiles, levels: Sequence[float], *, naive2: Truth | None = None
) -> dict[str, Items]:
    """Return the terms of each score, by item. naive2: its forecasts, for OWA."""
    groups = np.repeat(truth.items, truth.values.shape[2])
    unit = truth.unit_scales[:, None]
    median = quantiles[..., list(levels).index(0.5)]
    errors = ForecastErrors(_by_target(truth.values / unit), _by_target(median / unit), groups)
    spread = QuantileErrors(errors.truth, _by_target(quantiles / unit[..., None]), levels, groups)
    items: dict[str, Items] = {"mae": errors.mae(), "rmse": errors.rmse()}
    if truth.has_scale:
        # A series that was constant in training has no MASE.
        scales = truth.scales.ravel()
        scaled = ForecastErrors(
            np.where(np.isfinite(scales)[:, None], _by_target(truth.values), np.nan),
            _by_target(median),
            groups,
        )
        items["mase"] = scaled.mase(scales)
        if naive2 is not None:
            items["owa"] = scaled.owa(_by_target(naive2), scales)
    items["smape"] = ForecastErrors(_by_target(truth.values), _by_target(median), groups).smape()
    items |= {"pinball": spread.pinball(), "crps": spread.crps()}
    return items | {
        name: spread.coverage(low, high)
        for name, (low, high) in COVERAGES.items()
        if low in levels and high in levels
    }


def forecast_scores(
    truth: ForecastTruth, items: Mapping[str, Items], *, baseline: Mapping[str, Items], baseline_name: str
) -> list[Score]:
    """Return all scores; the first is MASE for several series, otherwise the mean absolute error."""
    first = "mase" if truth.has_many_series and "mase" in items else "mae"
    scaled = "; divided by the seasonal-naive error of each target" if truth.values.shape[2] > 1 else ""
    scores = []
    for name in sorted(items, key=lambda name: name != first):
        is_coverage = name in COVERAGES
        scores.append(
            score_with_interval(
                name,
                items[name],
                baseline=None if is_coverage else baseline[name],
                baseline_name=baseline_name,
                higher_is_better=is_coverage,
                method=(
                    METHODS[name]
                    + (scaled if name in ("mae", "rmse", "pinball", "crps") else "")
                    + f"; 95% CI by bootstrap over {truth.num_items:,} {truth.unit}"
                ),
                unit=truth.unit,
                note=f"nominal {nominal_coverage(name):.0%}" if is_coverage else "",
            )
        )
    return scores


def nominal_coverage(name: str) -> float:
    """
    >>> round(nominal_coverage("coverage_95"), 9)
    0.95
    """
    low, high = COVERAGES[name]
    return high - low


def network_verdict(score: Score) -> str | None:
    """Say that a network is not needed, unless it is clearly better than the baseline; None if it is."""
    if score.baseline is None or score.difference is None or score.verdict == "clearly better":
        return None
    name = score.name.upper()
    values = f"{name} {format_number(score.baseline)}, the network {format_number(score.value)}"
    if score.verdict == "too few":
        few = too_few(score.difference.num_items, score.difference.unit)
        return f"{few} to tell whether the network beats {score.baseline_name} ({values})."
    does = "does clearly better" if score.verdict == "clearly worse" else "does as well"
    return f"A network is not needed here: {score.baseline_name} {does} ({values})."


def _by_target(values: Float[np.ndarray, "windows horizon targets *levels"]) -> np.ndarray:
    """Return (windows · targets, horizon, …): every target of a window is a forecast of its own."""
    return np.moveaxis(values, 2, 1).reshape(-1, values.shape[1], *values.shape[3:])
