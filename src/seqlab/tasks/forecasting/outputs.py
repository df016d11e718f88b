"""Forecasts of all windows of a split, as arrays in original units."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import nn

from seqlab.batches.batch import Batch
from seqlab.tasks.forecasting.codec import ForecastingCodec
from seqlab.tasks.forecasting.forecasts import run_forecaster
from seqlab.tasks.forecasting.split import ForecastSplit

BATCH = 256
"""Windows in a batch of forecasts."""


@dataclass(frozen=True, eq=False)
class Quantiles:
    """The predicted quantiles of every window, in original units."""

    values: Float[np.ndarray, "windows horizon targets levels"]
    levels: tuple[float, ...]
    windows: Int[np.ndarray, "windows 2"]

    @property
    def median(self) -> Float[np.ndarray, "windows horizon targets"]:
        """The point forecasts."""
        return self.values[..., self.levels.index(0.5)]


def window_batches(codec: ForecastingCodec, split: ForecastSplit) -> Iterator[Batch]:
    """Yield every window once, in order."""
    for start in range(0, len(split), BATCH):
        yield codec.collate(split, np.arange(start, min(start + BATCH, len(split))))


@torch.inference_mode()
def predict_windows(model: nn.Module, codec: ForecastingCodec, split: ForecastSplit) -> Quantiles:
    """Forecast from every origin of a split."""
    encoded = [predict_batch(model, codec, batch) for batch in window_batches(codec, split)]
    return Quantiles(split.decode(np.concatenate(encoded)), codec.output.levels, split.windows)


def predict_batch(
    model: nn.Module, codec: ForecastingCodec, batch: Batch
) -> Float[np.ndarray, "batch horizon targets levels"]:
    """Return standardized quantiles, in double precision."""
    device = next(model.parameters()).device
    is_recursive = codec.settings.strategy == "recursive"
    forecast = run_forecaster(model, batch.to(device), codec.output, is_recursive=is_recursive)
    values: Float[np.ndarray, "batch horizon targets levels"] = (
        forecast.quantiles(codec.output).double().cpu().numpy()
    )
    return values
