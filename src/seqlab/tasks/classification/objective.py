"""The objective of a classifier: cross-entropy."""

from __future__ import annotations

from functools import cached_property

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional as F

from seqlab.batches.batch import Batch
from seqlab.losses.cross_entropy import class_cross_entropy
from seqlab.metrics.classification import accuracy, confusion_counts, macro_f1
from seqlab.tasks.classification.class_weights import balanced_weights
from seqlab.tasks.classification.codec import ClassificationCodec
from seqlab.tasks.classification.spec import ClassificationSettings
from seqlab.tasks.labeled.class_predictions import predict_classes
from seqlab.tasks.labeled.whole_sequence import WholeSequenceObjective, outputs_of
from seqlab.training.base import BatchLoss, Carry, Validation


class ClassificationObjective(WholeSequenceObjective[ClassificationCodec]):
    """Cross-entropy of the class of every sequence.

    With balanced class weights, every class counts equally in the loss and macro-F1 selects the best model;
    otherwise accuracy does.
    """

    @cached_property
    def class_weights(self) -> Float[Tensor, " classes"] | None:
        """The loss weight of each class; None if all examples have the same weight."""
        if self.recipe.section(ClassificationSettings).class_weights != "balanced":
            return None
        counts = self.codec.class_counts(self.splits["train"].store)
        return torch.tensor(balanced_weights(counts), dtype=torch.float32)

    def class_membership(self, batch: Batch) -> Float[Tensor, "batch classes"]:
        return F.one_hot(batch["label"], len(self.codec.labels)).float()

    def loss(self, model: nn.Module, batch: Batch, *, step: int, carry: Carry) -> BatchLoss:
        logits = model(batch.inputs, batch.is_token)  # (batch, classes)
        weights = None if self.class_weights is None else self.class_weights.to(logits)
        total = class_cross_entropy(
            logits,
            batch["label"],
            label_smoothing=self.recipe.training.label_smoothing,
            class_weights=weights,
        )
        if self.teacher is not None:
            teacher_logits = self.teacher.logits(batch.inputs, batch.is_token)
            total = self.teacher.soft_targets(teacher_logits).mix(total, logits)
        seen = len(batch["label"])
        count = seen if weights is None else float(weights[batch["label"]].sum())
        correct = int((logits.argmax(dim=-1) == batch["label"]).sum())
        return BatchLoss(total, count, correct=correct, carry=carry, seen=seen)

    def validate(self, model: nn.Module) -> Validation:
        split = self.splits["valid"]
        predictions = predict_classes(outputs_of(model, self.codec, split), split, temperature=1.0)
        targets, predicted = predictions.targets, predictions.predicted
        loss = float(predictions.nats.mean())
        facts = {
            "valid_accuracy": accuracy(targets, predicted),
            "valid_macro_f1": macro_f1(
                confusion_counts(targets, predicted, num_classes=predictions.num_classes)
            ),
            "valid_loss": loss,
        }
        chosen_by = "valid_accuracy" if self.class_weights is None else "valid_macro_f1"
        return Validation(facts[chosen_by], higher_is_better=True, facts=facts, loss=loss)
