"""The half of a network that writes: it knows a source, and goes on from what it has written."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Any

from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from seqlab.models.base import ModelState

Alignment = Float[Tensor, "hypotheses time source"]
"""How much each step of the source was looked at, for each step that was written."""


@dataclass(frozen=True)
class DecoderState:
    """Where a decoder stands: what it has read, one row for each source, and what it has written, one row for
    each hypothesis.

    Several hypotheses may belong to one source: they stand side by side, as many for each source, and share
    what was read.
    """

    source: ModelState
    cache: ModelState = ()

    def with_cache(self, cache: ModelState) -> DecoderState:
        """The same sources, further on."""
        return replace(self, cache=cache)

    def select(self, hypotheses: Int[Tensor, " hypotheses"]) -> DecoderState:
        """Other hypotheses of the same sources: some left out, some several times, as many for each source as
        before or not.
        """
        return replace(self, cache=tuple(part[hypotheses] for part in self.cache))

    def reorder(self, hypotheses: Int[Tensor, " hypotheses"]) -> DecoderState:
        """As `select`, for a holder who gives this one up: memory may be used again, so that only what
        changes is written.
        """
        return replace(self, cache=tuple(reorder_rows(part, hypotheses) for part in self.cache))

    def keep_sources(self, sources: Int[Tensor, " sources"]) -> DecoderState:
        """Some of the sources, for instance those that are not finished; `select` then chooses among the
        hypotheses.
        """
        return replace(self, source=tuple(part[sources] for part in self.source))


def reorder_rows(part: Any, rows: Int[Tensor, " rows"]) -> Any:
    """part[rows], in its own memory where the part knows how."""
    return part.reorder(rows) if hasattr(part, "reorder") else part[rows]


class Decoder(nn.Module, ABC):
    """Reads a source once (`init_state`), then takes steps: all at once, where they are known, or one by one;
    both give the same features.
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
        """Before the first step. features: of the encoder, for every step of the source; ended: the encoder's
        state after the last one.
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
        """The same, with where was looked; None where a decoder does not look."""
        return (*self(steps, is_token, decoder_state), None)
