"""The backbone of a network: what happens between the embedding of the steps and the head that answers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Self

from jaxtyping import Bool, Float
from torch import Tensor, nn

from seqlab.core.registry import Registry

ModelState = tuple[Any, ...]
"""What a backbone carries from piece to piece.

Each part is a tensor, or behaves like one with the batch first: part[rows] picks sequences.
"""


class Encoder(nn.Module, ABC):
    """What reads a source before a decoder writes: steps in, features out."""

    output_size: int

    @abstractmethod
    def forward(
        self, steps: Float[Tensor, "batch time input"], is_token: Bool[Tensor, "batch time"]
    ) -> tuple[Float[Tensor, "batch features output"], ModelState]:
        """The features, and the state after the last step, empty where there is none."""

    def feature_mask(self, is_token: Bool[Tensor, "batch time"]) -> Bool[Tensor, "batch features"]:
        """Which features are of something real: where there is one for each step, those of real steps."""
        return is_token


class Backbone(Encoder):
    """Steps in, features out, one for one.

    A causal backbone shows each step only the earlier ones. Its sequences may come in pieces, of different
    lengths too: given the state after one piece, the next piece gives what the whole would have given.
    """

    input_size: int
    output_size: int
    is_stateful: bool
    """Whether training over a stream goes on from the state where the last window ended."""

    @classmethod
    @abstractmethod
    def from_settings(cls, settings: Any, *, causal: bool) -> Self:
        """The backbone that settings of its kind describe."""

    @abstractmethod
    def forward(
        self,
        steps: Float[Tensor, "batch time input"],
        is_token: Bool[Tensor, "batch time"],
        state: ModelState | None = None,
    ) -> tuple[Float[Tensor, "batch time output"], ModelState]: ...


backbones: Registry[type[Backbone]] = Registry("model", package="seqlab.models")
