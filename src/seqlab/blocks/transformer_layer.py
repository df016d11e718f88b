"""One layer of a Transformer: the steps look at each other, then each is transformed alone."""

from __future__ import annotations

from abc import ABC, abstractmethod

from jaxtyping import Float
from torch import Tensor, nn

from seqlab.attention.multi_head import Cache, MayAttend, MultiHeadSelfAttention
from seqlab.blocks.dropout import Dropout
from seqlab.blocks.feed_forward import FeedForward


class TransformerLayer(nn.Module, ABC):
    """Attention and a feed-forward network, each with a residual sum and a LayerNorm; the variants differ in the order."""

    def __init__(self, attention: MultiHeadSelfAttention, feed_forward: FeedForward, *, hidden_size: int, dropout: float, eps: float) -> None:
        super().__init__()
        self.attention = attention
        self.feed_forward = feed_forward
        self.attention_norm = nn.LayerNorm(hidden_size, eps=eps)
        self.feed_forward_norm = nn.LayerNorm(hidden_size, eps=eps)
        self.dropout = Dropout(dropout)

    @abstractmethod
    def forward(
        self, steps: Float[Tensor, "batch time hidden"], *, may_attend: MayAttend | None, causal: bool, cache: Cache | None
    ) -> tuple[Float[Tensor, "batch time hidden"], Cache]: ...


class PostNormLayer(TransformerLayer):
    """Normalised after each sum, as first published.

        x = norm(x + dropout(attention(x)))
        x = norm(x + dropout(feed_forward(x)))

    Paper: Vaswani et al. 2017, arXiv:1706.03762, section 3.1.
    """

    def forward(
        self, steps: Float[Tensor, "batch time hidden"], *, may_attend: MayAttend | None, causal: bool, cache: Cache | None
    ) -> tuple[Float[Tensor, "batch time hidden"], Cache]:
        attended, cache = self.attention(steps, may_attend=may_attend, causal=causal, cache=cache)
        steps = self.attention_norm(steps + self.dropout(attended))
        return self.feed_forward_norm(steps + self.dropout(self.feed_forward(steps))), cache


class PreNormLayer(TransformerLayer):
    """Normalised before each sub-layer; the residual path stays untouched, so deep stacks train without warm-up.

        x = x + dropout(attention(norm(x)))
        x = x + dropout(feed_forward(norm(x)))

    Paper: Xiong et al. 2020, "On Layer Normalization in the Transformer Architecture", arXiv:2002.04745.
    """

    def forward(
        self, steps: Float[Tensor, "batch time hidden"], *, may_attend: MayAttend | None, causal: bool, cache: Cache | None
    ) -> tuple[Float[Tensor, "batch time hidden"], Cache]:
        attended, cache = self.attention(self.attention_norm(steps), may_attend=may_attend, causal=causal, cache=cache)
        steps = steps + self.dropout(attended)
        return steps + self.dropout(self.feed_forward(self.feed_forward_norm(steps))), cache
