"""Ensembles: several networks decode one target together."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float, Int, Shaped
from torch import Tensor, nn

from seqlab.core.errors import UsageError
from seqlab.decoding.protocol import AttentionSeq2SeqModel, Seq2SeqModel
from seqlab.decoding.search import to_log_probs
from seqlab.models.base import ModelState
from seqlab.models.decoders.base import Alignment, DecoderState, reorder_rows


class Ensemble(nn.Module):
    """P(token) = mean over the networks of P_m(token); the logits are log P.

    All networks must have the same vocabularies, in the same order.
    """

    def __init__(self, models: Sequence[Seq2SeqModel]) -> None:
        super().__init__()
        if not models:
            raise UsageError("an ensemble needs at least one model.", cure="Pass the runs of the ensemble.")
        self.models = tuple(models)
        self.networks = nn.ModuleList(model for model in models if isinstance(model, nn.Module))

    def encode(
        self, source: Shaped[Tensor, "batch source *features"], source_is_token: Bool[Tensor, "batch source"]
    ) -> DecoderState:
        decoder_states = [model.encode(source, source_is_token) for model in self.models]
        return DecoderState(
            tuple(_StateBundle(state.source) for state in decoder_states),
            tuple(_StateBundle(state.cache) for state in decoder_states),
        )

    def decode(
        self,
        targets: Int[Tensor, "hypotheses time"],
        is_token: Bool[Tensor, "hypotheses time"],
        decoder_state: DecoderState,
    ) -> tuple[Float[Tensor, "hypotheses time vocab"], DecoderState]:
        logits, decoder_state, _ = self._step(targets, is_token, decoder_state, with_alignment=False)
        return logits, decoder_state

    def decode_with_alignment(
        self,
        targets: Int[Tensor, "hypotheses time"],
        is_token: Bool[Tensor, "hypotheses time"],
        decoder_state: DecoderState,
    ) -> tuple[Float[Tensor, "hypotheses time vocab"], DecoderState, Alignment | None]:
        """Like `decode`, with the mean alignment of the networks that have attention; None if none does."""
        return self._step(targets, is_token, decoder_state, with_alignment=True)

    def _step(
        self,
        targets: Int[Tensor, "hypotheses time"],
        is_token: Bool[Tensor, "hypotheses time"],
        decoder_state: DecoderState,
        *,
        with_alignment: bool,
    ) -> tuple[Float[Tensor, "hypotheses time vocab"], DecoderState, Alignment | None]:
        log_probs, caches, alignments = [], [], []
        for model, source, cache in zip(self.models, decoder_state.source, decoder_state.cache, strict=True):
            before, alignment = DecoderState(source.parts, cache.parts), None
            if with_alignment and isinstance(model, AttentionSeq2SeqModel):
                logits, after, alignment = model.decode_with_alignment(targets, is_token, before)
            else:
                logits, after = model.decode(targets, is_token, before)
            log_probs.append(to_log_probs(logits))
            caches.append(_StateBundle(after.cache))
            alignments += [] if alignment is None else [alignment]
        sizes = [member.shape[2] for member in log_probs]
        if len(set(sizes)) > 1:
            raise UsageError(
                f"models with vocabularies of {', '.join(f'{size:,}' for size in sizes)} tokens cannot"
                " form an ensemble.",
                where="ensemble",
                cure=(
                    "Use runs that were trained with the same vocabulary, for example with different seeds."
                ),
            )
        mean_log_probs = torch.stack(log_probs).logsumexp(dim=0) - math.log(len(log_probs))
        return (
            mean_log_probs,
            decoder_state.with_cache(tuple(caches)),
            torch.stack(alignments).mean(dim=0) if alignments else None,
        )


@dataclass(frozen=True)
class _StateBundle:
    """The parts of one network's state, selected together."""

    parts: ModelState

    def __getitem__(self, rows: Int[Tensor, " rows"]) -> _StateBundle:
        return _StateBundle(tuple(part[rows] for part in self.parts))

    def reorder(self, rows: Int[Tensor, " rows"]) -> _StateBundle:
        return _StateBundle(tuple(reorder_rows(part, rows) for part in self.parts))
