"""The same small network at every step."""

from __future__ import annotations

from typing import Literal

from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional as F

from seqlab.blocks.dropout import Dropout

Activation = Literal["relu", "gelu"]


class FeedForward(nn.Module):
    """output = W₂ activation(W₁ x + b₁) + b₂, at each step alone.  Paper: arXiv:1706.03762, section 3.3."""

    def __init__(self, hidden_size: int, *, inner_size: int, activation: Activation, dropout: float) -> None:
        super().__init__()
        self.expand = nn.Linear(hidden_size, inner_size)
        self.contract = nn.Linear(inner_size, hidden_size)
        self.dropout = Dropout(dropout)
        self.activation = activation
        for layer in (self.expand, self.contract):
            nn.init.xavier_uniform_(layer.weight)
            nn.init.zeros_(layer.bias)

    def forward(self, steps: Float[Tensor, "batch time hidden"]) -> Float[Tensor, "batch time hidden"]:
        inner = self.expand(steps)  # (batch, time, inner)
        inner = F.relu(inner, inplace=True) if self.activation == "relu" else F.gelu(inner, approximate="tanh")
        return self.contract(self.dropout(inner))
