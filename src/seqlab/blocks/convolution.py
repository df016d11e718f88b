"""A convolution over time: each step sees its neighbors."""

from __future__ import annotations

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn
from torch.nn import functional as F

from seqlab.blocks.dropout import Dropout


class ConvolutionLayer(nn.Module):
    """Normalize, convolve over time, activate, add to the input.

        x = x + dropout(W₂ gelu(convolve(norm(x))))

    Padding is zeroed before the convolution, so batching does not change the result of a sequence. A causal
    layer sees `context_size` earlier steps and no later one; its state holds these steps for each sequence.
    """

    def __init__(
        self, hidden_size: int, *, kernel_size: int, dilation: int, causal: bool, dropout: float
    ) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(hidden_size)
        self.convolve = nn.Conv1d(hidden_size, hidden_size, kernel_size, dilation=dilation)
        self.mix = nn.Linear(hidden_size, hidden_size)
        self.dropout = Dropout(dropout)
        self.causal = causal
        self.context_size = (kernel_size - 1) * dilation

    def forward(
        self,
        steps: Float[Tensor, "batch time hidden"],
        is_token: Bool[Tensor, "batch time"],
        left_context: Float[Tensor, "batch before hidden"] | None = None,
    ) -> tuple[Float[Tensor, "batch time hidden"], Float[Tensor, "batch before hidden"]]:
        seen = self.norm(steps) * is_token.unsqueeze(-1)  # (batch, time, hidden)
        before = self.context_size if self.causal else self.context_size // 2
        if left_context is None:
            left_context = seen.new_zeros(len(seen), before, seen.shape[2])
        seen = torch.cat([left_context, seen], dim=1)  # (batch, before + time, hidden)
        padded = F.pad(seen.transpose(1, 2), (0, self.context_size - before))  # (batch, hidden, reach + time)
        convolved = self.convolve(padded).transpose(1, 2)  # (batch, time, hidden)
        return steps + self.dropout(self.mix(F.gelu(convolved))), last_steps(seen, is_token, before)


def last_steps(
    seen: Float[Tensor, "batch seen hidden"], is_token: Bool[Tensor, "batch time"], before: int
) -> Float[Tensor, "batch before hidden"]:
    """The left context of the next step, with as many steps as before, for each sequence."""
    index = is_token.sum(dim=1, keepdim=True) + torch.arange(before, device=seen.device)  # (batch, before)
    return seen.gather(1, index.unsqueeze(-1).expand(-1, -1, seen.shape[2]))
