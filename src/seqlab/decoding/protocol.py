"""What every decoder needs of a network: read a source once, then give logits for one target token after the
other.
"""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from jaxtyping import Bool, Float, Int, Shaped
from torch import Tensor

from seqlab.models.decoders.base import DecoderState


class Seq2SeqModel(Protocol):
    """A network that reads a source and then gives logits for one target token after the other.

    Hypotheses of one source stand side by side, as many for each source, and share what was read.
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
    """A translator that may also say how much it looked at every step of the source: weights that add up to
    1, or nothing without attention.
    """

    def decode_with_alignment(
        self,
        targets: Int[Tensor, "hypotheses time"],
        is_token: Bool[Tensor, "hypotheses time"],
        decoder_state: DecoderState,
    ) -> tuple[
        Float[Tensor, "hypotheses time vocab"], DecoderState, Float[Tensor, "hypotheses time source"] | None
    ]: ...
