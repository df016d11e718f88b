"""A decoder's state and what it finds in the source, joined: after the cell, or also before the next one."""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor, nn

from seqlab.attention.attend import Attention, MayAttend, ProjectedSource


class OutputAttention(nn.Module):
    """joined_t = [state_t; context_t] for the output layer; the cell never sees the context.

    So the decoder may scan over all its steps first and look at the source for all of them at once.
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
        """`source` is what `attention.project_source` made of the encoder's states."""
        contexts, _ = self.attention.attend(states, source, may_attend)
        return self.combine_context(contexts, states)

    def combine_context(
        self, contexts: Float[Tensor, "*batch value"], states: Float[Tensor, "*batch state"]
    ) -> Float[Tensor, "*batch joined"]:
        """[state; context]."""
        return torch.cat([states, contexts], dim=-1)


class InputFeeding(nn.Module):
    """attentional_t = tanh(W [context_t; state_t]), which goes to the output layer and, beside the next
    input, into the cell.

        input'_{t+1} = [input_{t+1}; attentional_t],   attentional_0 = 0

    The decoder knows where it has looked before; the price is that its steps must wait for each other.
    Paper: Luong et al. 2015, arXiv:1508.04025, section 3.3 and equation 5.
    """

    def __init__(self, attention: Attention, *, value_size: int, output_size: int) -> None:
        super().__init__()
        self.attention = attention
        self.combine = nn.Linear(value_size + attention.score.query_size, output_size, bias=False)
        self.output_size = output_size

    def initial_feed(self, inputs: Float[Tensor, "batch *input"]) -> Float[Tensor, "batch attentional"]:
        """What stands in for the step before the first."""
        return inputs.new_zeros(len(inputs), self.output_size)

    def feed_input(
        self, inputs: Float[Tensor, "batch input"], previous: Float[Tensor, "batch attentional"]
    ) -> Float[Tensor, "batch fed"]:
        """What the cell reads."""
        return torch.cat([inputs, previous], dim=-1)

    def forward(
        self,
        state: Float[Tensor, "batch state"],
        source: ProjectedSource,
        may_attend: MayAttend | None = None,
    ) -> Float[Tensor, "batch attentional"]:
        """What the output layer reads, and the next step."""
        context, _ = self.attention.attend(state.unsqueeze(1), source, may_attend)
        return self.combine_context(context.squeeze(1), state)

    def combine_context(
        self, context: Float[Tensor, "*batch value"], state: Float[Tensor, "*batch state"]
    ) -> Float[Tensor, "*batch attentional"]:
        """tanh(W [context; state])."""
        return torch.tanh(self.combine(torch.cat([context, state], dim=-1)))
