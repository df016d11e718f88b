"""A fixed-window network: the same small feed-forward network at every step, over the last few steps only."""

from __future__ import annotations

from typing import Self

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn
from torch.nn import functional as F

from seqlab.blocks.convolution import last_steps
from seqlab.blocks.dropout import Dropout
from seqlab.core.errors import ArgumentError
from seqlab.models.base import Backbone, ModelState, backbones
from seqlab.models.settings.fixed_window import FixedWindowSettings


@backbones.register("fixed_window")
class FixedWindowBackbone(Backbone):
    """One hidden layer over the concatenated steps of a window:

        hidden_t = tanh(W [x_{t-n+1}; …; x_t] + b)        n = context, zeros before the first step

    A causal network sees the step itself and the n - 1 steps before it, so its context is bounded: earlier
    steps have no effect. A non-causal one has the step in the middle of its window. The weights are the same
    at every step, so this is a convolution over time with a kernel of n steps. Unlike a recurrent network it
    grows with its context: W has n times as many columns as a step has numbers.

    Paper: Bengio et al. 2003, "A Neural Probabilistic Language Model", JMLR 3, equation 1 without the direct
    connections.
    """

    is_stateful = False

    def __init__(
        self, input_size: int, hidden_size: int, *, context: int, causal: bool, dropout: float
    ) -> None:
        super().__init__()
        self.input_size = input_size
        self.output_size = hidden_size
        self.context = context
        self.left_context = context - 1 if causal else context // 2
        self.hidden = nn.Linear(context * input_size, hidden_size)
        self.dropout = Dropout(dropout)

    @classmethod
    def from_settings(cls, settings: FixedWindowSettings, *, causal: bool) -> Self:
        if not causal and settings.context % 2 == 0:
            raise ArgumentError(
                "context",
                settings.context,
                f"a window of {settings.context} steps has no center.",
                allowed="odd numbers",
                cure=f"Use {settings.context - 1} or {settings.context + 1}.",
            )
        size = settings.embedding_size or settings.hidden_size
        return cls(
            size, settings.hidden_size, context=settings.context, causal=causal, dropout=settings.dropout
        )

    def forward(
        self,
        steps: Float[Tensor, "batch time input"],
        is_token: Bool[Tensor, "batch time"],
        state: ModelState | None = None,
    ) -> tuple[Float[Tensor, "batch time output"], ModelState]:
        seen = steps * is_token.unsqueeze(-1)  # (batch, time, input)
        left_context = (
            seen.new_zeros(len(seen), self.left_context, self.input_size) if state is None else state[0]
        )
        seen = torch.cat([left_context, seen], dim=1)  # (batch, before + time, input)
        padded = F.pad(
            seen, (0, 0, 0, self.context - 1 - self.left_context)
        )  # (batch, context - 1 + time, input)
        windows = (
            padded.unfold(1, self.context, 1).transpose(2, 3).flatten(2)
        )  # (batch, time, context * input)
        return self.dropout(torch.tanh(self.hidden(windows))), (
            last_steps(seen, is_token, self.left_context),
        )
