"""Run a forecaster over windows: all steps at once, or one after the other."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor, nn

from seqlab.batches.batch import Batch
from seqlab.losses.forecasting import ForecastOutput
from seqlab.models.forecasting.forecaster import Forecast


@dataclass(frozen=True)
class SeriesForecast:
    """Parameters of every step, with the location and scale of the window from which each was predicted."""

    parameters: Float[Tensor, "batch horizon targets parameters"]
    location: Float[Tensor, "batch horizon targets"]
    scale: Float[Tensor, "batch horizon targets"]

    @classmethod
    def of(cls, forecast: Forecast) -> SeriesForecast:
        """Repeat location and scale for every step."""
        parameters = (
            forecast.parameters.float() if forecast.parameters.dtype.itemsize < 4 else forecast.parameters
        )
        shape = parameters.shape[:3]
        location, scale = (
            values.to(parameters).unsqueeze(1).expand(shape) for values in (forecast.location, forecast.scale)
        )
        return cls(parameters, location, scale)

    def quantiles(self, output: ForecastOutput) -> Float[Tensor, "batch horizon targets levels"]:
        """Return the quantiles in units of the series."""
        return self.location.unsqueeze(-1) + self.scale.unsqueeze(-1) * output.quantiles(self.parameters)

    def loss(
        self, output: ForecastOutput, truth: Float[Tensor, "batch horizon targets"]
    ) -> Float[Tensor, "batch horizon targets"]:
        """Return the loss in units of the series, so that a window that hardly changes counts little."""
        truth = (truth.to(self.parameters) - self.location) / self.scale
        return output.rescale(output.loss(self.parameters, truth), self.scale)


def run_forecaster(
    model: nn.Module, batch: Batch, output: ForecastOutput, *, is_recursive: bool
) -> SeriesForecast:
    """Forecast every step whose known columns are in the batch."""
    known = batch["known"].to(batch.inputs.dtype)
    if not is_recursive:
        return SeriesForecast.of(model(batch.inputs, batch["is_known"], known))
    inputs, is_known, steps = batch.inputs, batch["is_known"], list[SeriesForecast]()
    for step in range(known.shape[1]):
        forecast = SeriesForecast.of(model(inputs, is_known, known[:, step : step + 1]))
        steps.append(forecast)
        median = forecast.quantiles(output)[..., output.median]  # (batch, 1, targets)
        predicted = torch.cat([median.to(inputs), known[:, step : step + 1]], dim=-1)
        inputs = torch.cat([inputs[:, 1:], predicted], dim=1)
        is_known = torch.cat([is_known[:, 1:], torch.ones_like(is_known[:, :1])], dim=1)
    return SeriesForecast(
        *(
            torch.cat([getattr(step, name) for step in steps], dim=1)
            for name in ("parameters", "location", "scale")
        )
    )
