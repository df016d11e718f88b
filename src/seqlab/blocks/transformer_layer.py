"""One layer of a Transformer: the steps look at each other (and perhaps at a source), then each is transformed alone."""

from __future__ import annotations

from jaxtyping import Float
from torch import Tensor, nn

from seqlab.attention.kv_cache import Past
from seqlab.attention.masks import Sight
from seqlab.attention.multi_head import ALL, MultiHeadCrossAttention, MultiHeadSelfAttention, Turn
from seqlab.blocks.residual import Residual


class EncoderLayer(nn.Module):
    """Self-attention and a feed-forward network, each with a residual path of its own; the variants differ in these paths.

    Paper: Vaswani et al. 2017, "Attention Is All You Need", arXiv:1706.03762, section 3.1. With a causal sight this is also the
    layer of a language model.
    """

    def __init__(
        self, attention: MultiHeadSelfAttention, feed_forward: nn.Module, *, attention_residual: Residual, feed_forward_residual: Residual
    ) -> None:
        super().__init__()
        self.attention = attention
        self.feed_forward = feed_forward
        self.attention_residual = attention_residual
        self.feed_forward_residual = feed_forward_residual

    def forward(
        self, steps: Float[Tensor, "batch time hidden"], *, sight: Sight = ALL, turn: Turn | None = None, past: Past | None = None
    ) -> tuple[Float[Tensor, "batch time hidden"], Past]:
        entered = self.attention_residual.enter(steps)
        attended, past = self.attention(entered, sight=sight, turn=turn, past=past)
        steps = self.attention_residual.leave(steps, entered, attended)
        entered = self.feed_forward_residual.enter(steps)
        return self.feed_forward_residual.leave(steps, entered, self.feed_forward(entered)), past


class DecoderLayer(nn.Module):
    """Self-attention over the steps so far, cross-attention to a source, and a feed-forward network.

    Paper: Vaswani et al. 2017, arXiv:1706.03762, section 3.1.
    """

    def __init__(
        self,
        attention: MultiHeadSelfAttention,
        cross_attention: MultiHeadCrossAttention,
        feed_forward: nn.Module,
        *,
        attention_residual: Residual,
        cross_residual: Residual,
        feed_forward_residual: Residual,
    ) -> None:
        super().__init__()
        self.attention = attention
        self.cross_attention = cross_attention
        self.feed_forward = feed_forward
        self.attention_residual = attention_residual
        self.cross_residual = cross_residual
        self.feed_forward_residual = feed_forward_residual

    def forward(
        self,
        steps: Float[Tensor, "batch time hidden"],
        source: Past,
        *,
        sight: Sight = ALL,
        source_sight: Sight = ALL,
        turn: Turn | None = None,
        past: Past | None = None,
    ) -> tuple[Float[Tensor, "batch time hidden"], Past]:
        """`source` is what the layer's own cross-attention has read of the encoder's features. Where it has fewer sequences than `steps`,
        several neighbours look at the same one."""
        entered = self.attention_residual.enter(steps)
        attended, past = self.attention(entered, sight=sight, turn=turn, past=past)
        steps = self.attention_residual.leave(steps, entered, attended)
        entered = self.cross_residual.enter(steps)
        queries = entered.reshape(source.num_sequences, -1, entered.shape[2])  # neighbours are further queries
        looked = self.cross_attention(queries, source, sight=source_sight).view_as(entered)
        steps = self.cross_residual.leave(steps, entered, looked)
        entered = self.feed_forward_residual.enter(steps)
        return self.feed_forward_residual.leave(steps, entered, self.feed_forward(entered)), past
