"""The interface that searches need: encode a source once, then compute logits token by token."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from jaxtyping import Bool, Float, Int, Shaped
from torch import Tensor

from seqlab.models.decoders.base import DecoderState


class Seq2SeqModel(Protocol):
    """A network that encodes a source and then computes logits for one target token after the other.

    Hypotheses of one source are consecutive rows, the same number for each source, and share the encoded
    source.
    """

    def encode(
        self, source: Shaped[Tensor, "batch source *features"], source_is_token: Bool[Tensor, "batch source"]
    ) -> DecoderState: ...

    def decode(
        self,
        targets: Int[Tensor, "hypotheses time"],
        is_token: Bool[Tensor, "hypotheses time"],
        decoder_state: DecoderState,
    ) -> tuple[Float[Tensor, "hypotheses time vocab"], DecoderState]: ...


@runtime_checkable
class AttentionSeq2SeqModel(Seq2SeqModel, Protocol):
    """A model that also returns its attention weights over the source, which sum to 1, or None without
    attention.
    """

    def decode_with_alignment(
        self,
        targets: Int[Tensor, "hypotheses time"],
        is_token: Bool[Tensor, "hypotheses time"],
        decoder_state: DecoderState,
    ) -> tuple[
        Float[Tensor, "hypotheses time vocab"], DecoderState, Float[Tensor, "hypotheses time source"] | None
    ]: ...
