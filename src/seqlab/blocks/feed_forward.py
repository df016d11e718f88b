"""The position-wise feed-forward network: the same small network at every step."""

from __future__ import annotations

from typing import Literal

from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional as F

from seqlab.blocks.dropout import Dropout

FeedForwardActivation = Literal["relu", "gelu", "gelu_tanh", "silu"]


class FeedForward(nn.Module):
    """output = W₂ activation(W₁ x + b₁) + b₂, at each step separately. Paper: arXiv:1706.03762, section
    3.3.
    """

    def __init__(
        self,
        hidden_size: int,
        *,
        inner_size: int,
        activation: FeedForwardActivation,
        dropout: float,
        bias: bool = True,
    ) -> None:
        super().__init__()
        self.expand = _linear(hidden_size, inner_size, bias=bias)
        self.contract = _linear(inner_size, hidden_size, bias=bias)
        self.dropout = Dropout(dropout)
        self.activation = activation

    def forward(self, steps: Float[Tensor, "*batch hidden"]) -> Float[Tensor, "*batch hidden"]:
        return self.contract(self.dropout(activate(self.expand(steps), self.activation, in_place=True)))


class GatedFeedForward(nn.Module):
    """output = W₂ (activation(W_g x) ⊙ W₁ x), at each step separately; with silu it is called SwiGLU.

    Paper: Shazeer 2020, "GLU Variants Improve Transformer", arXiv:2002.05202. W_g and W₁ are one product.
    """

    def __init__(
        self,
        hidden_size: int,
        *,
        inner_size: int,
        activation: FeedForwardActivation,
        dropout: float,
        bias: bool = True,
    ) -> None:
        super().__init__()
        self.expand = _linear(hidden_size, 2 * inner_size, bias=bias)
        self.contract = _linear(inner_size, hidden_size, bias=bias)
        self.dropout = Dropout(dropout)
        self.activation = activation

    def forward(self, steps: Float[Tensor, "*batch hidden"]) -> Float[Tensor, "*batch hidden"]:
        gate, inner = self.expand(steps).chunk(2, dim=-1)
        return self.contract(self.dropout(activate(gate, self.activation) * inner))


def activate(
    inner: Float[Tensor, "*batch inner"], activation: FeedForwardActivation, *, in_place: bool = False
) -> Float[Tensor, "*batch inner"]:
    """relu: max(0, x).  gelu: x Φ(x), exact or (gelu_tanh) by its approximation.  silu: x σ(x).

    in_place: relu may overwrite `inner`, which is not needed afterwards; not allowed for half of a split
    tensor.
    """
    if activation == "relu":
        return F.relu(inner, inplace=in_place)
    if activation == "silu":
        return F.silu(inner)
    return F.gelu(inner, approximate="tanh" if activation == "gelu_tanh" else "none")


def _linear(size: int, output_size: int, *, bias: bool) -> nn.Linear:
    layer = nn.Linear(size, output_size, bias=bias)
    nn.init.xavier_uniform_(layer.weight)
    if bias:
        nn.init.zeros_(layer.bias)
    return layer
