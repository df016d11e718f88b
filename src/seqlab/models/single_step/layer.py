"""One layer of a Transformer decoder for one new step of every hypothesis, without module overhead."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, Self

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional as F

from seqlab.attention.few_queries import attend_few_queries
from seqlab.attention.kv_cache import KVCache
from seqlab.attention.multi_head import ApplyRotary, MultiHeadCrossAttention, MultiHeadSelfAttention
from seqlab.blocks.dropout import Dropout
from seqlab.blocks.feed_forward import FeedForward, FeedForwardActivation, GatedFeedForward, activate
from seqlab.blocks.residual import PostNorm, PreNorm
from seqlab.blocks.transformer_layer import DecoderLayer
from seqlab.models.single_step.product import PackedLinear

Rows = Float[Tensor, "hypotheses hidden"]
"""The newest step of every hypothesis."""
RowFunction = Callable[[Rows], Rows]
SMALL_GELU_ELEMENTS = 8192
"""Up to this many elements, torch's own gelu is faster than oneDNN's, which has a high startup cost (measured).
"""


class SelfAttentionCache(NamedTuple):
    """The cached keys and values of one layer, and views of the newest step, which the layer has yet to
    fill.
    """

    keys: Float[Tensor, "hypotheses kv_heads time head"]
    values: Float[Tensor, "hypotheses kv_heads time head"]
    new_keys: Float[Tensor, "hypotheses kv_heads 1 head"]
    new_values: Float[Tensor, "hypotheses kv_heads 1 head"]


class SourceCache(NamedTuple):
    """Keys and values of the sources in one layer, and a bias of -inf at padding; None without padding."""

    keys: Float[Tensor, "sources kv_heads source head"]
    values: Float[Tensor, "sources kv_heads source head"]
    bias: Float[Tensor, "sources 1 1 source"] | None
    num_sources: int

    @classmethod
    def from_cache(cls, source: KVCache, bias: Float[Tensor, "sources 1 1 source"] | None) -> Self:
        return cls(source.keys.contiguous(), source.values.contiguous(), bias, source.num_sequences)


class SingleStepLayer:
    """Computes `DecoderLayer` for one step that sees all earlier steps, without dropout, which is inactive in
    a search.

        x = after(x + sublayer(before(x)))     for self-attention, cross-attention and the feed-forward network

    where one of `before` and `after` is a norm and the other is the identity.
    """

    def __init__(self, layer: DecoderLayer) -> None:
        self_attention, cross_attention, feed_forward = (
            layer.attention,
            layer.cross_attention,
            layer.feed_forward,
        )
        assert isinstance(feed_forward, FeedForward | GatedFeedForward)
        self.heads, self.kv_heads, self.head_size = (
            self_attention.num_heads,
            self_attention.num_kv_heads,
            self_attention.head_size,
        )
        self.qkv, self.output = _product(self_attention.qkv), _product(self_attention.output)
        self.query, self.source_output = _product(cross_attention.query), _product(cross_attention.output)
        self.expand, self.contract = _product(feed_forward.expand), _product(feed_forward.contract)
        self.activation, self.gated = feed_forward.activation, isinstance(feed_forward, GatedFeedForward)
        paths = [
            _norms(residual)
            for residual in (layer.attention_residual, layer.cross_residual, layer.feed_forward_residual)
        ]
        (
            (self.before_self, self.after_self),
            (self.before_source, self.after_source),
            (self.before_inner, self.after_inner),
        ) = paths

    @staticmethod
    def supports(layer: nn.Module) -> bool:
        """Whether a layer consists only of modules that this class supports."""
        if type(layer) is not DecoderLayer:
            return False
        self_attention, cross_attention, feed_forward = (
            layer.attention,
            layer.cross_attention,
            layer.feed_forward,
        )
        residuals = layer.attention_residual, layer.cross_residual, layer.feed_forward_residual
        parts = [
            part for module in (self_attention, cross_attention, feed_forward) for part in module.children()
        ]
        return (
            type(self_attention) is MultiHeadSelfAttention
            and type(cross_attention) is MultiHeadCrossAttention
            and type(feed_forward) in (FeedForward, GatedFeedForward)
            and all(type(residual) in (PreNorm, PostNorm) for residual in residuals)
            and all(type(part) in (nn.Linear, Dropout) for part in parts)
        )

    def __call__(
        self,
        steps: Rows,
        self_cache: SelfAttentionCache,
        source_cache: SourceCache,
        apply_rotary: ApplyRotary | None,
    ) -> Rows:
        steps = self.after_self(
            self._self_attend(self.before_self(steps), self_cache, apply_rotary).add_(steps)
        )
        steps = self.after_source(self._cross_attend(self.before_source(steps), source_cache).add_(steps))
        return self.after_inner(self._transform(self.before_inner(steps)).add_(steps))

    def _self_attend(
        self, steps: Rows, self_cache: SelfAttentionCache, apply_rotary: ApplyRotary | None
    ) -> Rows:
        """Self-attention: the keys and values of the step are written to the cache first, then the step
        attends to the whole cache.
        """
        heads, kv_heads = self.heads, self.kv_heads
        qkv = self.qkv(steps).view(-1, heads + 2 * kv_heads, 1, self.head_size)
        qk, v = qkv.split_with_sizes((heads + kv_heads, kv_heads), dim=1)
        q, k = (qk if apply_rotary is None else apply_rotary(qk)).split_with_sizes((heads, kv_heads), dim=1)
        self_cache.new_keys.copy_(k)
        self_cache.new_values.copy_(v)
        mixed = attend_few_queries(q, self_cache.keys, self_cache.values)  # (hypotheses, heads, 1, head)
        return self.output(mixed.reshape(-1, heads * self.head_size))

    def _cross_attend(self, steps: Rows, source_cache: SourceCache) -> Rows:
        """Cross-attention: the hypotheses of one source are treated as additional queries."""
        q = self.query(steps).view(source_cache.num_sources, -1, self.heads, self.head_size).transpose(1, 2)
        mixed = attend_few_queries(
            q, source_cache.keys, source_cache.values, source_cache.bias
        )  # (sources, heads, hypotheses of each, head)
        return self.source_output(mixed.transpose(1, 2).reshape(-1, self.heads * self.head_size))

    def _transform(self, steps: Rows) -> Rows:
        inner = self.expand(steps)
        if not self.gated:
            return self.contract(activate_small(inner, self.activation))
        gate, inner = inner.chunk(2, dim=1)
        return self.contract(activate(gate, self.activation) * inner)


def activate_small(
    inner: Float[Tensor, "rows inner"], activation: FeedForwardActivation
) -> Float[Tensor, "rows inner"]:
    """Like `activate`, but may overwrite its input. torch runs the exact gelu in oneDNN, except for a
    transposed tensor.
    """
    if activation != "gelu" or inner.numel() > SMALL_GELU_ELEMENTS or inner.numel() % 2:
        return activate(inner, activation, in_place=True)
    return F.gelu(inner.view(2, -1).t()).t().view_as(inner)


def functional_norm(module: nn.Module) -> RowFunction:
    """Turn a norm module into a function with the same result, without module overhead."""
    if isinstance(module, nn.LayerNorm):
        shape, weight, bias, eps = (
            module.normalized_shape,
            module.weight.detach(),
            module.bias.detach(),
            module.eps,
        )
        return lambda rows: torch.layer_norm(rows, shape, weight, bias, eps, cudnn_enable=False)
    return module.forward if isinstance(module, nn.RMSNorm) else identity


def identity(rows: Rows) -> Rows:
    return rows


def _norms(residual: nn.Module) -> tuple[RowFunction, RowFunction]:
    """The norms before and after a sublayer."""
    assert isinstance(residual, PreNorm | PostNorm)
    norm = functional_norm(residual.norm)
    return (norm, identity) if isinstance(residual, PreNorm) else (identity, norm)


def _product(linear: nn.Linear) -> PackedLinear:
    return PackedLinear(linear.weight, linear.bias)
