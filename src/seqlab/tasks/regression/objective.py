"""The objective of a regression: Huber loss or squared error of a standardized number."""

from __future__ import annotations

import torch
from torch import nn

from seqlab.batches.batch import Batch
from seqlab.losses.regression import huber_loss, squared_error
from seqlab.tasks.labeled.whole_sequence import WholeSequenceObjective
from seqlab.tasks.regression.codec import RegressionCodec
from seqlab.tasks.regression.scores import number_items, predict_numbers
from seqlab.tasks.regression.spec import RegressionSettings
from seqlab.training.base import BatchLoss, Carry, Validation

LOSSES = {"huber": huber_loss, "squared": squared_error}
TOLERANCE = 0.5
"""Predictions within half a standard deviation count as correct in the training log; this is not a score."""


class RegressionObjective(WholeSequenceObjective[RegressionCodec]):
    """The root mean squared error (RMSE) on the validation split selects the best weights."""

    def loss(self, model: nn.Module, batch: Batch, *, step: int, carry: Carry) -> BatchLoss:
        predicted = model(batch.inputs, batch.is_token).squeeze(-1).float()  # (batch,)
        total = LOSSES[self.recipe.section(RegressionSettings).loss](predicted, batch["target"])
        correct = int(((predicted.detach() - batch["target"]).abs() < TOLERANCE).sum())
        return BatchLoss(total, count=len(batch["target"]), correct=correct, carry=carry)

    def validate(self, model: nn.Module) -> Validation:
        predictions = predict_numbers(model, self.codec, self.splits["valid"])
        rmse = number_items(predictions)["rmse"].full_score()
        deviation = self.codec.labels.deviation
        loss = LOSSES[self.recipe.section(RegressionSettings).loss](
            torch.from_numpy(predictions.predicted / deviation),
            torch.from_numpy(predictions.truth / deviation),
        )
        facts = {"valid_rmse": rmse, "valid_loss": float(loss) / len(predictions.truth)}
        return Validation(rmse, higher_is_better=False, facts=facts)
