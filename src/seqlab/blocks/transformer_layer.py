"""One layer of a Transformer: self-attention, optional cross-attention to a source, and a feed-forward
network.
"""

from __future__ import annotations

from jaxtyping import Float
from torch import Tensor, nn

from seqlab.attention.kv_cache import KVCache
from seqlab.attention.masks import AttentionMask
from seqlab.attention.multi_head import NO_MASK, ApplyRotary, MultiHeadCrossAttention, MultiHeadSelfAttention
from seqlab.blocks.residual import Residual


class EncoderLayer(nn.Module):
    """Self-attention and a feed-forward network, each with its own residual connection; the variants differ
    in these connections.

    Paper: Vaswani et al. 2017, "Attention Is All You Need", arXiv:1706.03762, section 3.1. With a causal mask
    this is also the layer of a language model.
    """

    def __init__(
        self,
        attention: MultiHeadSelfAttention,
        feed_forward: nn.Module,
        *,
        attention_residual: Residual,
        feed_forward_residual: Residual,
    ) -> None:
        super().__init__()
        self.attention = attention
        self.feed_forward = feed_forward
        self.attention_residual = attention_residual
        self.feed_forward_residual = feed_forward_residual

    def forward(
        self,
        steps: Float[Tensor, "batch time hidden"],
        *,
        mask: AttentionMask = NO_MASK,
        apply_rotary: ApplyRotary | None = None,
        cache: KVCache | None = None,
    ) -> tuple[Float[Tensor, "batch time hidden"], KVCache]:
        sublayer_input = self.attention_residual.before_sublayer(steps)
        attended, cache = self.attention(sublayer_input, mask=mask, apply_rotary=apply_rotary, cache=cache)
        steps = self.attention_residual.after_sublayer(steps, sublayer_input, attended)
        sublayer_input = self.feed_forward_residual.before_sublayer(steps)
        return self.feed_forward_residual.after_sublayer(
            steps, sublayer_input, self.feed_forward(sublayer_input)
        ), cache


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
        source: KVCache,
        *,
        mask: AttentionMask = NO_MASK,
        source_mask: AttentionMask = NO_MASK,
        apply_rotary: ApplyRotary | None = None,
        cache: KVCache | None = None,
    ) -> tuple[Float[Tensor, "batch time hidden"], KVCache]:
        """`source` holds the keys and values that the layer's cross-attention computed from the encoder's
        features.

        If it has fewer sequences than `steps`, consecutive rows of `steps` share one source.
        """
        sublayer_input = self.attention_residual.before_sublayer(steps)
        attended, cache = self.attention(sublayer_input, mask=mask, apply_rotary=apply_rotary, cache=cache)
        steps = self.attention_residual.after_sublayer(steps, sublayer_input, attended)
        sublayer_input = self.cross_residual.before_sublayer(steps)
        queries = sublayer_input.reshape(
            source.num_sequences, -1, sublayer_input.shape[2]
        )  # rows that share a source become additional queries
        cross_attended = self.cross_attention(queries, source, mask=source_mask).view_as(sublayer_input)
        steps = self.cross_residual.after_sublayer(steps, sublayer_input, cross_attended)
        sublayer_input = self.feed_forward_residual.before_sublayer(steps)
        return self.feed_forward_residual.after_sublayer(
            steps, sublayer_input, self.feed_forward(sublayer_input)
        ), cache
