"""Combine a decoder's state with its attention context: only after the cell, or also as input to the next
step.
"""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor, nn

from seqlab.attention.attend import Attention, MayAttend, ProjectedSource


class OutputAttention(nn.Module):
    """joined_t = [state_t; context_t] for the output layer; the cell never sees the context.

    So the decoder can scan over all its steps first and attend to the source for all of them at once.
    """

    def __init__(self, attention: Attention, *, value_size: int) -> None:
        super().__init__()
        self.attention = attention
        self.output_size = attention.score.query_size + value_size

    def forward(
        self,
        states: Float[Tensor, "batch target state"],
        source: ProjectedSource,
        may_attend: MayAttend | None = None,
    ) -> Float[Tensor, "batch target joined"]:
        """`source` is the result of `attention.project_source` on the encoder's states."""
        contexts, _ = self.attention.attend(states, source, may_attend)
        return self.combine_context(contexts, states)

    def combine_context(
        self, contexts: Float[Tensor, "*batch value"], states: Float[Tensor, "*batch state"]
    ) -> Float[Tensor, "*batch joined"]:
        """[state; context]."""
        return torch.cat([states, contexts], dim=-1)


class InputFeeding(nn.Module):
    """attentional_t = tanh(W [context_t; state_t]), the input of the output layer and, together with the next
    token, of the cell (input feeding).

        input'_{t+1} = [input_{t+1}; attentional_t],   attentional_0 = 0

    The decoder sees what it attended to before, but its steps must run sequentially. Paper: Luong
    et al. 2015, arXiv:1508.04025, section 3.3 and equation 5.
    """

    def __init__(self, attention: Attention, *, value_size: int, output_size: int) -> None:
        super().__init__()
        self.attention = attention
        self.combine = nn.Linear(value_size + attention.score.query_size, output_size, bias=False)
        self.output_size = output_size

    def initial_feed(self, inputs: Float[Tensor, "batch *input"]) -> Float[Tensor, "batch attentional"]:
        """The attentional vector before the first step."""
        return inputs.new_zeros(len(inputs), self.output_size)

    def feed_input(
        self, inputs: Float[Tensor, "batch input"], previous: Float[Tensor, "batch attentional"]
    ) -> Float[Tensor, "batch fed"]:
        """The input of the cell."""
        return torch.cat([inputs, previous], dim=-1)

    def forward(
        self,
        state: Float[Tensor, "batch state"],
        source: ProjectedSource,
        may_attend: MayAttend | None = None,
    ) -> Float[Tensor, "batch attentional"]:
        """The input of the output layer and of the next step."""
        context, _ = self.attention.attend(state.unsqueeze(1), source, may_attend)
        return self.combine_context(context.squeeze(1), state)

    def combine_context(
        self, context: Float[Tensor, "*batch value"], state: Float[Tensor, "*batch state"]
    ) -> Float[Tensor, "*batch attentional"]:
        """tanh(W [context; state])."""
        return torch.tanh(self.combine(torch.cat([context, state], dim=-1)))
