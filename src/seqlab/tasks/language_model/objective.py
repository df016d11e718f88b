"""The objective of a language model: cross-entropy of the next token."""

from __future__ import annotations

from functools import cached_property

import numpy as np
import torch
from jaxtyping import Float
from torch import nn

from seqlab.batches.batch import Batch
from seqlab.batches.loader import Cursor, Loader
from seqlab.batches.samplers import BPTTSampler, Indices, RandomWindowSampler, Sampler
from seqlab.losses.sampled_softmax import SampledSoftmax, inclusion_probabilities
from seqlab.losses.token_loss import TokenLoss
from seqlab.models.language_model import LanguageModel
from seqlab.tasks.calibration import Calibration
from seqlab.tasks.language_model.codec import LanguageModelCodec
from seqlab.tasks.language_model.context_policy import ContextPolicy
from seqlab.tasks.language_model.defaults import LARGE_VOCABULARY, needs_all_logits
from seqlab.tasks.language_model.log_likelihood import stream_log_probs
from seqlab.tasks.language_model.predictor import LanguageModelPredictor
from seqlab.tasks.language_model.spec import LanguageModelSettings
from seqlab.tasks.objective import Objective
from seqlab.tasks.split import Split
from seqlab.tasks.text.token_counts import count_tokens
from seqlab.training.base import BatchLoss, Carry, Validation

SAMPLE_TOKENS = 240
MAX_TOKENS = 250_000
"""Maximum number of validation tokens scored during training."""
MAX_LOGITS = 2_000_000_000
"""With a large vocabulary, fewer tokens are scored: the output layer computes at most this many logits,
which takes about half a minute.
"""


class LanguageModelObjective(Objective[LanguageModelCodec, Split]):
    """Trains on parallel windows of the training stream; the validation metric is the mean loss."""

    @cached_property
    def policy(self) -> ContextPolicy:
        return ContextPolicy.from_recipe(self.recipe)

    @cached_property
    def sampled_softmax(self) -> SampledSoftmax | None:
        """The sampled softmax for a large vocabulary; None for the full softmax."""
        settings = self.recipe.section(LanguageModelSettings)
        if settings.softmax == "full":
            return None
        is_small = self.codec.vocabulary_size <= LARGE_VOCABULARY
        if settings.softmax == "auto" and (is_small or needs_all_logits(self.recipe)):
            return None
        counts = torch.from_numpy(self._token_counts)
        return SampledSoftmax(inclusion_probabilities(counts, settings.softmax_samples))

    @cached_property
    def _token_counts(self) -> Float[np.ndarray, " vocab"]:
        """Number of occurrences of each token in the training stream."""
        tokens = self.splits["train"].store["tokens"]
        return count_tokens(tokens, self.codec.vocabulary_size).astype(np.float32)

    def init_weights(self, model: nn.Module) -> None:
        """Initialize the output bias with the log-frequencies of the training tokens if the vocabulary is
        large.
        """
        if self.codec.vocabulary_size > LARGE_VOCABULARY:
            assert isinstance(model, LanguageModel)
            model.init_bias_from_counts(torch.from_numpy(self._token_counts))

    def loader(self, cursor: Cursor) -> Loader:
        training, num_steps = self.recipe.training, self.splits["train"].store["tokens"].num_steps
        window = min(self.policy.window, num_steps - 1)
        size = max(1, min(training.batch_size, (num_steps - 1) // window))
        carries_state = self.policy.carries_state
        kind: type[BPTTSampler] | type[RandomWindowSampler] = (
            BPTTSampler if carries_state else RandomWindowSampler
        )
        sampler: Sampler = kind(num_steps, batch_size=size, window=window, seed=training.seed)
        return Loader(
            sampler,
            lambda starts, is_first: self._collate(starts, window, continues=carries_state and not is_first),
            cursor=cursor,
        )

    def _collate(self, starts: Indices, window: int, *, continues: bool) -> Batch:
        stream = self.splits["train"].store["tokens"]
        windows = np.stack([stream.window(start, start + window + 1) for start in starts.tolist()])
        tokens = torch.from_numpy(windows.astype(np.int64))
        inputs = tokens[:, :-1]  # (batch, time); the targets are the same tokens one step later
        return Batch(
            inputs,
            torch.ones_like(inputs, dtype=torch.bool),
            {"next_tokens": tokens[:, 1:]},
            torch.from_numpy(starts),
            continues=continues,
        )

    def loss(self, model: nn.Module, batch: Batch, *, step: int, carry: Carry) -> BatchLoss:
        state, teacher_state = self._split_carry(carry if batch.continues else ())
        soft_targets = None
        if self.teacher is not None:
            logits, teacher_state = self.teacher.stream_logits(
                batch.inputs, batch.is_token, teacher_state
            )  # (batch, time, vocab)
            soft_targets = self.teacher.soft_targets(logits)
        loss = TokenLoss(
            batch["next_tokens"],
            label_smoothing=self.recipe.training.label_smoothing,
            sampled_softmax=self.sampled_softmax,
            soft_targets=soft_targets,
        )
        value, next_state = model(
            batch.inputs,
            batch.is_token,
            state or None,
            loss=loss,
            detach_every=self.recipe.section(LanguageModelSettings).bptt_steps,
        )
        carries_state = self.policy.carries_state
        return BatchLoss(
            total=value.total,
            count=batch["next_tokens"].numel(),
            correct=int(value.correct),
            carry=(*(part.detach() for part in next_state), *teacher_state) if carries_state else (),
        )

    def _split_carry(self, carry: Carry) -> tuple[Carry, Carry]:
        """Split the carried tensors into the states of the student and its teacher."""
        num_teacher_tensors = self.teacher.num_state_tensors if self.teacher is not None and carry else 0
        num_tensors = len(carry) - num_teacher_tensors
        return carry[:num_tensors], carry[num_tensors:]

    def validate(self, model: nn.Module) -> Validation:
        log_probs = stream_log_probs(
            model,
            self.splits["valid"].store["tokens"],
            window=self.policy.window,
            carries_state=self.policy.carries_state,
            max_tokens=min(MAX_TOKENS, MAX_LOGITS // self.codec.vocabulary_size),
        )
        loss = -float(log_probs.mean(dtype=np.float64))
        facts = {"valid_loss": loss, "sample": self.sample(model)}
        return Validation(loss, higher_is_better=False, facts=facts)

    def sample(self, model: nn.Module) -> str:
        predictor = LanguageModelPredictor(self.codec, model, Calibration())
        settings = self.recipe.decoding.model_copy(update={"max_tokens": SAMPLE_TOKENS})
        return "".join(predictor.stream("", settings))

    def describe_rows(self, batch: Batch) -> str:
        starts = ", ".join(map(str, batch.rows[:5].tolist()))
        return f"windows at tokens {starts} … of {self.splits['train'].rows.name}"
