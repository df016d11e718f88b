"""Bridges that initialize a decoder from the final state of an encoder: h_decoder(0) = f(h_encoder(T))."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from seqlab.cells.base import State
from seqlab.core.errors import UsageError


class Bridge(nn.Module, ABC):
    """The initial state of a recurrent decoder, one tensor for each part of the state."""

    def __init__(self, sizes: Sequence[int]) -> None:
        super().__init__()
        self.sizes = tuple(sizes)
        """The widths of the parts of the decoder's state."""

    @abstractmethod
    def forward(
        self,
        features: Float[Tensor, "batch source size"],
        is_token: Bool[Tensor, "batch source"],
        final_state: State,
    ) -> State:
        """features: of the encoder, at every step; final_state: its state after the
        last real step, if it has one.
        """


class IdentityBridge(Bridge):
    """Copies the encoder's final state: the same parts, with the same widths."""

    def __init__(self, sizes: Sequence[int], *, encoder_sizes: Sequence[int]) -> None:
        super().__init__(sizes)
        if tuple(encoder_sizes) != self.sizes:
            raise UsageError(
                f"the encoder state has parts of width {list(encoder_sizes)}, but the decoder state needs"
                f" {list(sizes)}.",
                cure=(
                    "Use the same cell, number of layers and width on both sides with a unidirectional"
                    " encoder, or use a learned bridge."
                ),
            )

    def forward(
        self,
        features: Float[Tensor, "batch source size"],
        is_token: Bool[Tensor, "batch source"],
        final_state: State,
    ) -> State:
        return final_state


class LearnedBridge(Bridge):
    """part_i = tanh(W_i [all parts of the encoder's state] + b_i), for any cells, widths, layers and
    directions.
    """

    def __init__(self, sizes: Sequence[int], *, encoder_sizes: Sequence[int]) -> None:
        super().__init__(sizes)
        self.map = nn.Linear(sum(encoder_sizes), sum(sizes))

    def forward(
        self,
        features: Float[Tensor, "batch source size"],
        is_token: Bool[Tensor, "batch source"],
        final_state: State,
    ) -> State:
        return torch.tanh(self.map(torch.cat(final_state, dim=-1))).split(self.sizes, dim=-1)


class MeanBridge(Bridge):
    """part_i = tanh(W_i mean + b_i) of the encoder's features: for encoders without a state, and with a
    shorter gradient path to every step for the others.
    """

    def __init__(self, sizes: Sequence[int], *, feature_size: int) -> None:
        super().__init__(sizes)
        self.map = nn.Linear(feature_size, sum(sizes))

    def forward(
        self,
        features: Float[Tensor, "batch source size"],
        is_token: Bool[Tensor, "batch source"],
        final_state: State,
    ) -> State:
        kept = features.masked_fill(~is_token.unsqueeze(-1), 0.0)
        mean = kept.sum(dim=1) / is_token.sum(dim=1, keepdim=True)  # (batch, size)
        return torch.tanh(self.map(mean)).split(self.sizes, dim=-1)


class NoBridge(Bridge):
    """Zeros: attention is the decoder's only access to the source."""

    def forward(
        self,
        features: Float[Tensor, "batch source size"],
        is_token: Bool[Tensor, "batch source"],
        final_state: State,
    ) -> State:
        return tuple(features.new_zeros(len(features), size) for size in self.sizes)
