"""The backbone of a network: everything between the embedding and the head."""

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
    """Reads a source before a decoder generates the target: maps steps to features."""

    output_size: int

    @abstractmethod
    def forward(
        self, steps: Float[Tensor, "batch time input"], is_token: Bool[Tensor, "batch time"]
    ) -> tuple[Float[Tensor, "batch features output"], ModelState]:
        """The features, and the state after the last step, which is empty for stateless encoders."""

    def feature_mask(self, is_token: Bool[Tensor, "batch time"]) -> Bool[Tensor, "batch features"]:
        """Which features are real; with one feature per step, those of real steps."""
        return is_token


class Backbone(Encoder):
    """Maps steps to features, one for each step.

    In a causal backbone each step sees only itself and earlier steps. Its sequences may be processed in
    chunks, also of different lengths: given the state after one chunk, the next chunk gives the same features
    as the whole sequence.
    """

    input_size: int
    output_size: int
    is_stateful: bool
    """Whether training on a stream continues from the state at the end of the last window."""

    @classmethod
    @abstractmethod
    def from_settings(cls, settings: Any, *, causal: bool) -> Self:
        """Build the backbone from its settings."""

    @abstractmethod
    def forward(
        self,
        steps: Float[Tensor, "batch time input"],
        is_token: Bool[Tensor, "batch time"],
        state: ModelState | None = None,
    ) -> tuple[Float[Tensor, "batch time output"], ModelState]: ...


backbones: Registry[type[Backbone]] = Registry("model", package="seqlab.models")
