"""The objective of a masked language model: cross-entropy of the masked tokens."""

from __future__ import annotations

from functools import cached_property

from torch import nn

from seqlab.batches.batch import Batch
from seqlab.batches.loader import Cursor, Loader
from seqlab.batches.masking import NO_TARGET, Masker
from seqlab.batches.samplers import BucketSampler
from seqlab.losses.cross_entropy import class_cross_entropy
from seqlab.tasks.masked_language_model.codec import MaskedLanguageModelCodec, MaskedSplit
from seqlab.tasks.masked_language_model.masked_batches import collate_masked, training_masker
from seqlab.tasks.masked_language_model.predictions import predict_masked
from seqlab.tasks.objective import Objective
from seqlab.training.base import BatchLoss, Carry, Validation

MAX_TOKENS = 100_000
"""Maximum number of validation tokens scored during training."""


class MaskedLanguageModelObjective(Objective[MaskedLanguageModelCodec, MaskedSplit]):
    """Trains on sequences with masked tokens; the validation metric is the mean loss."""

    @cached_property
    def _masker(self) -> Masker:
        return training_masker(self.codec)

    def loader(self, cursor: Cursor) -> Loader:
        split, training = self.splits["train"], self.recipe.training
        sampler = BucketSampler(
            split.spans.lengths, batch_size=min(training.batch_size, len(split.spans)), seed=training.seed
        )
        loader = Loader(
            sampler,
            lambda rows, _: collate_masked(self.codec, split, rows, self._masker, epoch=loader.cursor.epoch),
            cursor=cursor,
        )
        return loader

    def loss(self, model: nn.Module, batch: Batch, *, step: int, carry: Carry) -> BatchLoss:
        is_target = batch["masked_tokens"] != NO_TARGET
        logits = model(batch.inputs, batch.is_token, is_target)  # (targets, vocab)
        targets = batch["masked_tokens"][is_target]  # (targets,)
        total = class_cross_entropy(logits, targets, label_smoothing=self.recipe.training.label_smoothing)
        if self.teacher is not None:
            teacher_logits = self.teacher.logits(batch.inputs, batch.is_token, is_target)
            total = self.teacher.soft_targets(teacher_logits).mix(total, logits)
        num_correct = int((logits.detach().argmax(dim=-1) == targets).sum())
        return BatchLoss(total=total, count=len(targets), correct=num_correct)

    def validate(self, model: nn.Module) -> Validation:
        predictions = predict_masked(model, self.codec, self.splits["valid"], max_tokens=MAX_TOKENS)
        self.require_targets(len(predictions.targets), noun="masked tokens")
        loss = -float(predictions.guesses.log_probs.mean())
        facts = {"valid_loss": loss, "valid_accuracy": float(predictions.is_correct.mean())}
        return Validation(loss, higher_is_better=False, facts=facts)

    def describe_rows(self, batch: Batch) -> str:
        split = self.splits["train"]
        starts = split.spans.starts[batch.rows[:5].cpu().numpy()].tolist()
        return f"{len(batch.rows)} sequences, at tokens {', '.join(map(str, starts))} … of {split.rows.name}"
