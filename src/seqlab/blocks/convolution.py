"""A convolution over time: each step sees its neighbourhood."""

from __future__ import annotations

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn
from torch.nn import functional as F


class ConvolutionLayer(nn.Module):
    """Normalise, convolve over time, activate, add to the input.

        x = x + dropout(W₂ gelu(convolve(norm(x))))

    Padding is zeroed before the convolution, so a sequence in a batch gives what it gives alone. A causal layer sees
    `reach` earlier steps and no later one; its state is those steps.
    """

    def __init__(self, hidden_size: int, *, kernel_size: int, dilation: int, causal: bool, dropout: float) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(hidden_size)
        self.convolve = nn.Conv1d(hidden_size, hidden_size, kernel_size, dilation=dilation)
        self.mix = nn.Linear(hidden_size, hidden_size)
        self.dropout = nn.Dropout(dropout)
        self.causal = causal
        self.reach = (kernel_size - 1) * dilation

    def forward(
        self, steps: Float[Tensor, "batch time hidden"], is_token: Bool[Tensor, "batch time"], past: Float[Tensor, "batch reach hidden"] | None = None
    ) -> tuple[Float[Tensor, "batch time hidden"], Float[Tensor, "batch reach hidden"]]:
        seen = self.norm(steps) * is_token.unsqueeze(-1)  # (batch, time, hidden)
        if past is None:
            before = self.reach if self.causal else self.reach // 2
            past = seen.new_zeros(seen.shape[0], before, seen.shape[2])
        after = 0 if self.causal else self.reach - past.shape[1]
        seen = torch.cat([past, seen], dim=1)  # (batch, before + time, hidden)
        convolved = self.convolve(F.pad(seen.transpose(1, 2), (0, after))).transpose(1, 2)  # (batch, time, hidden)
        return steps + self.dropout(self.mix(F.gelu(convolved))), seen[:, seen.shape[1] - self.reach :]
