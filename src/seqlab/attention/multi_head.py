"""Several heads look at the same steps, each in its own projection."""

from __future__ import annotations

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn
from torch.nn import functional as F

from seqlab.core.errors import RecipeError

Cache = tuple[Tensor, Tensor]
MayAttend = Bool[Tensor, "batch #time source"]
"""Which steps each step may look at; one row for all of them is enough."""


class MultiHeadSelfAttention(nn.Module):
    """Self-attention with several heads.

        q, k, v   = split_heads(W_qkv x)
        alignment = softmax(q kᵀ / √head_size)      over the steps that may be attended to
        output    = W_o join_heads(alignment v) + b_o

    Paper: Vaswani et al. 2017, "Attention Is All You Need", arXiv:1706.03762, section 3.2.

    The three projections are one product. `F.scaled_dot_product_attention` runs its flash kernel, with any mask, as long as
    `dropout` (on the alignment) is 0; more than 0 leaves that path and costs about three times the step.
    """

    def __init__(self, hidden_size: int, *, num_heads: int, qkv_bias: bool = True, dropout: float = 0.0) -> None:
        super().__init__()
        if hidden_size % num_heads:
            fitting = [heads for heads in range(1, hidden_size + 1) if hidden_size % heads == 0 and heads <= 2 * num_heads]
            raise RecipeError(
                f"hidden_size {hidden_size} cannot be divided over {num_heads} heads.",
                where="model.heads",
                cure=f"Numbers of heads that fit: {', '.join(map(str, fitting))}.",
            )
        self.num_heads = num_heads
        self.dropout = dropout
        self.qkv = nn.Linear(hidden_size, 3 * hidden_size, bias=qkv_bias)
        self.output = nn.Linear(hidden_size, hidden_size)
        nn.init.xavier_uniform_(self.qkv.weight)
        nn.init.xavier_uniform_(self.output.weight)
        for bias in (self.qkv.bias, self.output.bias):
            if bias is not None:
                nn.init.zeros_(bias)

    def forward(
        self,
        steps: Float[Tensor, "batch time hidden"],
        *,
        may_attend: MayAttend | None = None,
        causal: bool = False,
        cache: Cache | None = None,
    ) -> tuple[Float[Tensor, "batch time hidden"], Cache]:
        """`cache` holds keys and values of earlier steps; the new ones are returned behind them."""
        q, k, v = self.qkv(steps).unflatten(-1, (3, self.num_heads, -1)).permute(2, 0, 3, 1, 4)  # (batch, heads, time, head) each
        if cache is not None:
            k = torch.cat([cache[0], k], dim=2)
            v = torch.cat([cache[1], v], dim=2)
        if causal and q.shape[2] == 1:  # the newest step may see all there is
            causal = False
        elif causal and (cache is not None or may_attend is not None):
            past = self._past(q.shape[2], k.shape[2], q.device)
            may_attend = past if may_attend is None else past & may_attend
            causal = False
        mask = None if may_attend is None else may_attend.unsqueeze(1)  # (batch, 1, target, source)
        dropout = self.dropout if self.training else 0.0
        mixed = F.scaled_dot_product_attention(q, k, v, attn_mask=mask, is_causal=causal, dropout_p=dropout)  # (batch, heads, time, head)
        return self.output(mixed.transpose(1, 2).flatten(2)), (k, v)

    @staticmethod
    def _past(target: int, source: int, device: torch.device) -> Bool[Tensor, "1 target source"]:
        """Step t of the new steps stands at place source - target + t, and sees itself and all before."""
        return torch.ones(1, target, source, dtype=torch.bool, device=device).tril(source - target)
