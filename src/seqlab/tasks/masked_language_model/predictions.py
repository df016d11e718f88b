"""The predictions of a masked language model for the masked tokens of a split."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from numpy.typing import NDArray
from torch import Tensor, nn

from seqlab.baselines.neighbors import UNKNOWN, GapPredictions
from seqlab.batches.batch import Batch
from seqlab.batches.loader import one_pass
from seqlab.batches.masking import NO_TARGET
from seqlab.batches.samplers import LengthOrderSampler
from seqlab.tasks.masked_language_model.codec import MaskedLanguageModelCodec, MaskedSplit
from seqlab.tasks.masked_language_model.masked_batches import collate_masked, evaluation_masker

BATCH_SIZE, BATCH_STEPS = 128, 8_192

Tokens = Int[np.ndarray, " masked"]


@dataclass(frozen=True)
class MaskedPredictions:
    """Every masked token of a split in text order: its position, the true token, its visible neighbors, and
    the prediction.
    """

    rows: Tokens
    positions: Tokens
    targets: Tokens
    left: Tokens
    right: Tokens
    guesses: GapPredictions
    max_log_probs: Float[np.ndarray, " masked"]
    """The natural-log probability of the most probable token."""

    @classmethod
    def join(cls, batches: Sequence[Sequence[NDArray[Any]]]) -> MaskedPredictions:
        """Join batches in any order, each with the columns rows, positions, targets, left, right, best
        token, and the log-probabilities of the target and the best token.
        """
        columns = [np.concatenate(column) for column in zip(*batches, strict=True)]
        order = np.lexsort((columns[1], columns[0]))
        rows, positions, targets, left, right, best, log_probs, max_log_probs = (
            column[order] for column in columns
        )
        guesses = GapPredictions(best, log_probs)
        return cls(rows, positions, targets, left, right, guesses, max_log_probs)

    @property
    def is_correct(self) -> Bool[np.ndarray, " masked"]:
        return self.guesses.best == self.targets

    def worst_mistakes(self, max_count: int) -> Int[np.ndarray, " mistakes"]:
        """Return the wrong predictions with the least probable targets, worst first."""
        wrong = np.flatnonzero(~self.is_correct)
        return wrong[np.argsort(self.guesses.log_probs[wrong], kind="stable")][:max_count]


@torch.inference_mode()
def predict_masked(
    model: nn.Module, codec: MaskedLanguageModelCodec, split: MaskedSplit, *, max_tokens: int
) -> MaskedPredictions:
    """Mask tokens at the beginning of a split, the same ones every time, and predict them."""
    spans, masker = split.spans.beginning(at_most=max_tokens), evaluation_masker(codec)
    sampler = LengthOrderSampler(spans.lengths, batch_size=BATCH_SIZE, most_steps=BATCH_STEPS)
    batches = one_pass(sampler, lambda rows, _: collate_masked(codec, split, rows, masker))
    return MaskedPredictions.join([_predict_batch(model, batch, codec.mask_id) for batch in batches])


def _predict_batch(model: nn.Module, batch: Batch, mask_id: int) -> list[NDArray[Any]]:
    device = next(model.parameters()).device
    is_target = batch["masked_tokens"] != NO_TARGET
    logits = model(batch.inputs.to(device), batch.is_token.to(device), is_target.to(device))
    log_probs = logits.float().log_softmax(dim=-1).cpu()  # (targets, vocab)
    targets = batch["masked_tokens"][is_target]  # (targets,)
    rows, positions = is_target.nonzero(as_tuple=True)
    best = log_probs.max(dim=-1)
    columns = (
        batch.rows[rows],
        positions,
        targets,
        *_neighbors(batch, rows, positions, mask_id),
        best.indices,
        log_probs.gather(1, targets.unsqueeze(1)).squeeze(1).double(),
        best.values,
    )
    return [column.numpy() for column in columns]


def _neighbors(
    batch: Batch, rows: Int[Tensor, " masked"], positions: Int[Tensor, " masked"], mask_id: int
) -> tuple[Int[Tensor, " masked"], Int[Tensor, " masked"]]:
    """Return the neighbors of each masked token; UNKNOWN if a neighbor is masked too or the sequence ends."""
    visible = batch.inputs.masked_fill((batch.inputs == mask_id) | ~batch.is_token, UNKNOWN)
    framed = nn.functional.pad(visible, (1, 1), value=UNKNOWN)  # (batch, time + 2)
    return framed[rows, positions], framed[rows, positions + 2]
