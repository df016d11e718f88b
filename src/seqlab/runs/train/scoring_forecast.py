"""Forecast how long scoring will take, from a few held-out rows.

seconds = one pass over the validation data to calibrate
          + Σ over the scored splits (fixed + baseline + size · unit)
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any

import torch
from torch import nn

from seqlab.runs.train.held_out_sample import draw, unit_of
from seqlab.sources.base import Source
from seqlab.tasks.codec import Codec
from seqlab.tasks.evaluator import Evaluator
from seqlab.tasks.parts import TaskParts
from seqlab.tasks.split import Split
from seqlab.training.checkpoints.snapshot import capture_random_state, restore_random_state

SIZES = {"rows": (4, 16, 64), "characters": (2_000, 8_000, 32_000)}
"""Sample sizes that are scored to measure the speed, until one takes long enough."""
LONG_ENOUGH, SHARE_FOR_FORECAST = 0.7, 0.02
"""Seconds, or share of the time budget, after which no larger sample is measured."""
MARGIN = 1.15
"""Measured times vary by about this factor."""
MEASURED_AMONG = 10_000
"""Samples are drawn from this many rows: a file sorted by length does not begin with typical rows, and a
large file should not be read to its end.
"""
LEAST_SLOPE = 0.2
"""A row takes at least this share of the mean time, because the difference of two short times may be 0."""
REPORT_SECONDS = 1.0
"""Loading the best weights, writing results and report, and ending the process."""


@dataclass(frozen=True)
class ScoringForecast:
    """Scoring time in seconds: fixed per split, per unit (row or character), and for calibration."""

    fixed: float
    unit: float
    calibration: float = 0.0

    def seconds(self, sizes: Mapping[str, int]) -> float:
        """Return the time to score splits of these sizes and write the report."""
        return self.overhead(len(sizes)) + MARGIN * self.unit * sum(sizes.values())

    def overhead(self, num_splits: int) -> float:
        """Return the part of the scoring time that does not depend on the number of rows."""
        return MARGIN * (self.calibration + num_splits * self.fixed) + REPORT_SECONDS

    def slowed(self, factor: float) -> ScoringForecast:
        """Return the forecast for a machine that is `factor` times slower."""
        return replace(
            self, fixed=factor * self.fixed, unit=factor * self.unit, calibration=factor * self.calibration
        )


class ScoringRehearsal:
    """Scores a few validation rows to measure how long it takes. `evaluator` keeps its fitted baselines."""

    def __init__(
        self, parts: TaskParts, codec: Codec, train: Split, valid: Source, *, device: torch.device
    ) -> None:
        self.evaluator: Evaluator[Any, Any, Any] = parts.evaluator(codec, {"train": train})
        self._parts, self._codec, self._train, self._valid = parts, codec, train, valid
        self._device = device
        self._samples: dict[int, Split] = {}
        self._baseline: float | None = None

    def forecast(self, model: nn.Module, *, limit: float) -> ScoringForecast:
        """Forecast scoring with the model as it is; the random state does not change.

        An untrained model seldom ends its outputs, so its forecast is too long rather than too short.

        limit: the time budget in seconds.
        """
        before, was_training = capture_random_state(self._device), model.training
        model.to(self._device).eval()
        sizes, times = SIZES[unit_of(self._valid)], list[tuple[int, float]]()
        enough = max(LONG_ENOUGH, limit * SHARE_FOR_FORECAST)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # so few rows need not have every class
            with_baselines = self._time_baselines(model, sizes[0], enough=enough)
            for size in sizes:
                evaluator = self.evaluator.with_splits({"valid": self._sample(size)})
                times.append((size, self._time(evaluator, model)))
                if times[-1][1] > enough:
                    break
        model.train(was_training)
        restore_random_state(before, self._device)
        if self._baseline is None:
            self._baseline = max(0.0, with_baselines - times[0][1])
        fixed, unit = fit_line(times)
        return ScoringForecast(fixed + self._baseline, unit)

    def _time_baselines(self, model: nn.Module, size: int, *, enough: float) -> float:
        """Time scoring with baselines. It runs twice, because the first time also fits and loads them,
        unless that already took long.
        """
        if self._baseline is not None:
            return 0.0
        self.evaluator = self.evaluator.with_splits({"train": self._train, "valid": self._sample(size)})
        first = self._time(self.evaluator, model)
        return first if first > enough else self._time(self.evaluator, model)

    def _sample(self, size: int) -> Split:
        if size not in self._samples:
            seed = self._codec.recipe.training.seed
            part = draw(self._valid, size, seed=seed, among=MEASURED_AMONG)
            self._samples[size] = self._codec.encode_split("valid", part)
        return self._samples[size]

    def _time(self, evaluator: Evaluator[Any, Any, Any], model: nn.Module) -> float:
        clock = perf_counter()
        calibration = evaluator.calibrate(model)
        evaluator.evaluate(self._parts.predictor(self._codec, model, calibration), "valid")
        return perf_counter() - clock


def fit_line(times: list[tuple[int, float]]) -> tuple[float, float]:
    """Fit seconds = fixed + unit · size to the last two measurements; the first includes start-up time.

    >>> fit_line([(4, 9.0), (16, 2.0), (64, 5.0)])
    (1.0, 0.0625)
    >>> fit_line([(4, 2.0)])
    (0.0, 0.5)
    """
    size, seconds = times[-1]
    mean = seconds / size
    smaller, less = times[-2] if len(times) > 1 else (0, 0.0)
    slope = (seconds - less) / (size - smaller)
    unit = min(max(slope, LEAST_SLOPE * mean), mean)
    return seconds - unit * size, unit
