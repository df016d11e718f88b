"""The body of a network: what happens between the embedding of the steps and the head that answers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Self

from jaxtyping import Bool, Float
from torch import Tensor, nn

from seqlab.core.registry import Registry

State = tuple[Any, ...]
"""What a body carries from piece to piece. Each part is a tensor, or behaves like one whose first axis is the batch: part[rows] picks sequences."""


class Encoder(nn.Module, ABC):
    """What reads a source before a decoder writes: steps in, features out."""

    output_size: int

    @abstractmethod
    def forward(
        self, steps: Float[Tensor, "batch time input"], is_token: Bool[Tensor, "batch time"]
    ) -> tuple[Float[Tensor, "batch features output"], State]:
        """The features, and the state after the last step, empty where there is none."""

    def is_feature(self, is_token: Bool[Tensor, "batch time"]) -> Bool[Tensor, "batch features"]:
        """Which features are of something real: where there is one for each step, those of real steps."""
        return is_token


class Body(Encoder):
    """Steps in, features out, one for one.

    A causal body shows each step only the earlier ones. Its sequences may come in pieces, of different lengths too: given
    the state after one piece, the next piece gives what the whole would have given.
    """

    input_size: int
    output_size: int
    carries_state: bool
    """Whether training over a stream goes on from the state where the last window ended."""

    @classmethod
    @abstractmethod
    def build(cls, settings: Any, *, causal: bool) -> Self:
        """The body that settings of its kind describe."""

    @abstractmethod
    def forward(
        self, steps: Float[Tensor, "batch time input"], is_token: Bool[Tensor, "batch time"], state: State | None = None
    ) -> tuple[Float[Tensor, "batch time output"], State]: ...


bodies: Registry[type[Body]] = Registry("model", package="seqlab.models")
