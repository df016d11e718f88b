"""The objective of tasks that generate a target sequence: cross-entropy of the next token, with teacher
forcing.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable
from typing import TypeVar

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from numpy.typing import NDArray
from torch import Tensor, nn

from seqlab.batches.batch import Batch
from seqlab.batches.loader import Cursor, Loader, one_pass
from seqlab.batches.samplers import BucketSampler, Indices, LengthOrderSampler, Sampler, TokenBucketSampler
from seqlab.losses.full_softmax import target_log_probs_and_hits
from seqlab.losses.token_loss import TokenLoss
from seqlab.models.encoder_decoder import EncoderDecoder
from seqlab.tasks.objective import Objective
from seqlab.tasks.seq2seq.codec import Seq2SeqCodec
from seqlab.tasks.seq2seq.decoder_inputs import ShiftedTargets, draw_predicted, shift_targets
from seqlab.tasks.split import Split
from seqlab.training.base import BatchLoss, Carry, Validation
from seqlab.training.teacher_forcing import teacher_forcing_ratio

VALIDATION_BATCH, VALIDATION_STEPS = 256, 32_768
"""Maximum number of pairs, and of padded steps, in a validation batch."""

AnyCodec = TypeVar("AnyCodec", bound=Seq2SeqCodec)
AnySplit = TypeVar("AnySplit", bound=Split)


class Seq2SeqObjective(Objective[AnyCodec, AnySplit]):
    """Cross-entropy of every target token, given the source and the tokens before it.

    The decoder reads the true previous tokens (teacher forcing) or, with scheduled_sampling.schedule, a
    growing share of its own predictions (scheduled sampling).
    """

    @abstractmethod
    def collate(self, split: AnySplit, rows: Indices) -> Batch:
        """Build a padded batch of some pairs of a split, with the target `target`."""

    @abstractmethod
    def pair_lengths(self, split: AnySplit) -> NDArray[np.int64]:
        """Return the lengths of source and target of every pair, (pairs, 2), which determine the cost of a
        batch.
        """

    def loader(self, cursor: Cursor) -> Loader:
        train, training = self.splits["train"], self.recipe.training
        lengths = self.pair_lengths(train)
        sampler: Sampler
        if training.batch_tokens:
            sampler = TokenBucketSampler(lengths, batch_tokens=training.batch_tokens, seed=training.seed)
        else:
            batch_size = min(training.batch_size, len(lengths))
            sampler = BucketSampler(lengths.sum(axis=1), batch_size=batch_size, seed=training.seed)
        return Loader(sampler, lambda rows, _: self.collate(train, rows), cursor=cursor)

    def loss(self, model: nn.Module, batch: Batch, *, step: int, carry: Carry) -> BatchLoss:
        shifted = self._shift(batch)
        value = model(
            batch.inputs,
            batch.is_token,
            shifted.inputs,
            shifted.is_target,
            is_predicted=self._draw_predicted(shifted.inputs, step),
            loss=TokenLoss(
                shifted.next_tokens,
                shifted.is_target,
                label_smoothing=self.recipe.training.label_smoothing,
            ),
        )
        return BatchLoss(value.total, int(shifted.is_target.sum()), int(value.correct))

    def _draw_predicted(
        self, inputs: Int[Tensor, "batch time"], step: int
    ) -> Bool[Tensor, "batch time"] | None:
        """Draw which decoder inputs are its own predictions in this update; None if all are targets."""
        settings = self.recipe.scheduled_sampling
        if settings.schedule == "none":
            return None
        ratio = teacher_forcing_ratio(
            step,
            decay=settings.schedule,
            half=settings.half_life,
            least=settings.min_teacher_forcing_ratio,
        )
        return draw_predicted(inputs, ratio, per=settings.per)

    def _shift(self, batch: Batch) -> ShiftedTargets:
        return shift_targets(batch["target"], pad_id=self.codec.tokens.target.vocabulary.pad_id)

    def validate(self, model: nn.Module) -> Validation:
        log_probs, num_correct = [], 0
        for batch in self._validation_batches():
            batch_log_probs, batch_correct = self._teacher_forced_log_probs(model, batch)
            log_probs.append(batch_log_probs)
            num_correct += batch_correct
        self.require_targets(sum(map(len, log_probs)), noun="target tokens")
        all_log_probs = torch.cat(log_probs)
        loss = -float(all_log_probs.double().mean())
        facts = {
            "valid_loss": loss,
            "valid_accuracy": num_correct / len(all_log_probs),
            "sample": self.sample(model),
        }
        return Validation(loss, higher_is_better=False, facts=facts)

    def _validation_batches(self) -> Iterable[Batch]:
        valid = self.splits["valid"]
        # Each side is padded separately: twice the longer side bounds the padded steps of a pair.
        sampler = LengthOrderSampler(
            2 * self.pair_lengths(valid).max(axis=1),
            batch_size=VALIDATION_BATCH,
            most_steps=VALIDATION_STEPS,
        )
        return one_pass(sampler, lambda rows, _: self.collate(valid, rows))

    def _teacher_forced_log_probs(
        self, model: nn.Module, batch: Batch
    ) -> tuple[Float[Tensor, " targets"], int]:
        """Return log P of every target token given the true previous tokens, and how many are the argmax.

        Uses the features and the output weight of the network, so that the logits of all steps are never in
        memory at once.
        """
        assert isinstance(model, EncoderDecoder)
        batch = batch.to(next(model.parameters()).device)
        shifted = self._shift(batch)
        is_target = shifted.is_target
        features = model.features(batch.inputs, batch.is_token, shifted.inputs, is_target)[is_target]
        return target_log_probs_and_hits(
            features, model.output_weight, model.bias, shifted.next_tokens[is_target]
        )

    def describe_rows(self, batch: Batch) -> str:
        return self.splits["train"].describe_rows(batch, noun="pairs")
