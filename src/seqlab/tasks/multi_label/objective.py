"""The objective of a multi-label model: binary cross-entropy."""

from __future__ import annotations

from jaxtyping import Float
from torch import Tensor, nn

from seqlab.batches.batch import Batch
from seqlab.losses.binary_cross_entropy import binary_cross_entropy
from seqlab.tasks.labeled.whole_sequence import WholeSequenceObjective
from seqlab.tasks.multi_label.calibration import MultiLabelCalibration
from seqlab.tasks.multi_label.codec import MultiLabelCodec
from seqlab.tasks.multi_label.predictions import predict_labels
from seqlab.tasks.multi_label.scores import label_items
from seqlab.training.base import BatchLoss, Carry, Validation


class MultiLabelObjective(WholeSequenceObjective[MultiLabelCodec]):
    """Binary cross-entropy of every label; the validation loss selects the best weights."""

    def class_membership(self, batch: Batch) -> Float[Tensor, "batch labels"]:
        return batch["labels"].float()

    def loss(self, model: nn.Module, batch: Batch, *, step: int, carry: Carry) -> BatchLoss:
        logits = model(batch.inputs, batch.is_token)  # (batch, labels)
        total = binary_cross_entropy(
            logits, batch["labels"], label_smoothing=self.recipe.training.label_smoothing
        )
        correct = int(((logits > 0) == batch["labels"]).sum())
        return BatchLoss(total, count=batch["labels"].numel(), correct=correct, carry=carry)

    def validate(self, model: nn.Module) -> Validation:
        predictions = predict_labels(model, self.codec, self.splits["valid"], MultiLabelCalibration())
        loss = float(predictions.nats.mean())
        facts = {
            "valid_accuracy": float((predictions.predicted == predictions.truth).mean()),
            "valid_micro_f1": label_items(predictions)["micro_f1"].full_score(),
            "valid_loss": loss,
        }
        return Validation(loss, higher_is_better=False, facts=facts)
