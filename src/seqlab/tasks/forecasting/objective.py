"""The objective of a forecaster: pinball loss, or the negative log-likelihood, of every step to predict."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from torch import nn

from seqlab.batches.batch import Batch
from seqlab.batches.loader import Cursor, Loader
from seqlab.batches.samplers import ShuffledSampler
from seqlab.models.forecasting.closed_form import Window, fit_linear
from seqlab.models.forecasting.forecaster import Forecaster
from seqlab.tasks.forecasting.codec import ForecastingCodec
from seqlab.tasks.forecasting.forecasts import SeriesForecast, run_forecaster
from seqlab.tasks.forecasting.outputs import window_batches
from seqlab.tasks.forecasting.split import ForecastSplit
from seqlab.tasks.objective import Objective
from seqlab.training.base import BatchLoss, Carry, Validation


class ForecastingObjective(Objective[ForecastingCodec, ForecastSplit]):
    """The mean loss on the validation origins selects the best weights. Every series is measured in its own
    standard deviation, so that large numbers do not outweigh small ones.
    """

    def init_weights(self, model: nn.Module) -> None:
        """Fit the linear term on the training windows."""
        if isinstance(model, Forecaster) and model.linear is not None:
            valid = self.splits.get("valid", self.splits["train"])
            fit_linear(model, lambda: self._windows(self.splits["train"]), lambda: self._windows(valid))

    def _windows(self, split: ForecastSplit) -> Iterator[Window]:
        """Yield the windows of a split, with as many steps as the network predicts."""
        horizon = self.codec.network_horizon
        for batch in window_batches(self.codec, split):
            truth, is_truth = (batch[name][:, :horizon] for name in ("truth", "is_truth"))
            yield Window(batch.inputs, batch["is_known"], truth, is_truth)

    def loader(self, cursor: Cursor) -> Loader:
        split, training = self.splits["train"], self.recipe.training
        sampler = ShuffledSampler(
            len(split), batch_size=min(training.batch_size, len(split)), seed=training.seed
        )
        return Loader(sampler, lambda rows, _: self.codec.collate(split, rows), cursor=cursor)

    def describe_rows(self, batch: Batch) -> str:
        return self.splits["train"].describe_rows(batch)

    def loss(self, model: nn.Module, batch: Batch, *, step: int, carry: Carry) -> BatchLoss:
        forecast = SeriesForecast.of(
            model(batch.inputs, batch["is_known"], batch["known"].to(batch.inputs.dtype))
        )
        losses = forecast.loss(self.codec.output, batch["truth"])  # (batch, horizon, targets)
        is_truth = batch["is_truth"]
        return BatchLoss(
            total=losses.masked_fill(~is_truth, 0.0).sum(),
            count=int(is_truth.sum()),
            correct=None,
            carry=carry,
        )

    def validate(self, model: nn.Module) -> Validation:
        split, output = self.splits["valid"], self.codec.output
        device = next(model.parameters()).device
        is_recursive = self.codec.settings.strategy == "recursive"
        total, count, errors = 0.0, 0, list[np.ndarray]()
        for batch in (batch.to(device) for batch in window_batches(self.codec, split)):
            forecast = run_forecaster(model, batch, output, is_recursive=is_recursive)
            losses = forecast.loss(output, batch["truth"]).double()
            total += float(losses[batch["is_truth"]].sum())
            count += int(batch["is_truth"].sum())
            median = forecast.quantiles(output)[..., output.median]
            errors.append((median - batch["truth"])[batch["is_truth"]].double().cpu().numpy())
        self.require_targets(count, noun="known values to forecast")
        error = np.concatenate(errors)
        facts = {
            "valid_loss": total / count,
            "valid_scaled_mae": float(np.abs(error).mean()),
            "valid_scaled_rmse": float(np.sqrt((error**2).mean())),
        }
        return Validation(total / count, higher_is_better=False, facts=facts)
