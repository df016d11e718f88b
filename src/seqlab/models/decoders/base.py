"""The decoder of an encoder-decoder: conditioned on a source, it continues from the tokens generated so
far.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Any

from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from seqlab.models.base import ModelState

Alignment = Float[Tensor, "hypotheses time source"]
"""Attention weights over the source for each target step."""


@dataclass(frozen=True)
class DecoderState:
    """The state of a decoder: the encoded sources, one row for each source, and the cache of generated
    tokens, one row for each hypothesis.

    Several hypotheses may belong to one source: they are consecutive rows, the same number for each source,
    and share the encoded source.
    """

    source: ModelState
    cache: ModelState = ()

    def with_cache(self, cache: ModelState) -> DecoderState:
        """The same sources with a new cache."""
        return replace(self, cache=cache)

    def select(self, hypotheses: Int[Tensor, " hypotheses"]) -> DecoderState:
        """Select hypotheses of the same sources: rows may be dropped or repeated, and their number per
        source may change.
        """
        return replace(self, cache=tuple(part[hypotheses] for part in self.cache))

    def reorder(self, hypotheses: Int[Tensor, " hypotheses"]) -> DecoderState:
        """Like `select`, but this state must not be used afterwards: its memory may be reused, so that
        only changes are written.
        """
        return replace(self, cache=tuple(reorder_rows(part, hypotheses) for part in self.cache))

    def keep_sources(self, sources: Int[Tensor, " sources"]) -> DecoderState:
        """Keep some of the sources, for instance the unfinished ones; `select` then selects the
        hypotheses.
        """
        return replace(self, source=tuple(part[sources] for part in self.source))


def reorder_rows(part: Any, rows: Int[Tensor, " rows"]) -> Any:
    """part[rows], in place if the part supports it."""
    return part.reorder(rows) if hasattr(part, "reorder") else part[rows]


class Decoder(nn.Module, ABC):
    """Reads a source once (`init_state`), then decodes steps, all at once or one by one; both give the
    same features.
    """

    input_size: int
    output_size: int

    @abstractmethod
    def init_state(
        self,
        features: Float[Tensor, "batch source size"],
        is_token: Bool[Tensor, "batch source"],
        final_state: ModelState,
    ) -> DecoderState:
        """The state before the first step. features: of the encoder, for every step of the source; final_state:
        of the encoder.
        """

    @abstractmethod
    def forward(
        self,
        steps: Float[Tensor, "hypotheses time input"],
        is_token: Bool[Tensor, "hypotheses time"],
        decoder_state: DecoderState,
    ) -> tuple[Float[Tensor, "hypotheses time output"], DecoderState]: ...

    def forward_with_alignment(
        self,
        steps: Float[Tensor, "hypotheses time input"],
        is_token: Bool[Tensor, "hypotheses time"],
        decoder_state: DecoderState,
    ) -> tuple[Float[Tensor, "hypotheses time output"], DecoderState, Alignment | None]:
        """Like `forward`, but also returns the attention weights; None for a decoder without attention."""
        return (*self(steps, is_token, decoder_state), None)
