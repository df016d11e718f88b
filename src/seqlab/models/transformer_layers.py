"""Build the layers of a Transformer from its settings."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torch import nn

from seqlab.attention.multi_head import MultiHeadCrossAttention, MultiHeadSelfAttention
from seqlab.blocks.feed_forward import FeedForward, GatedFeedForward
from seqlab.blocks.norm import build_norm
from seqlab.blocks.residual import NormalizedSkip, PostNorm, PreNorm, Residual, ReZero, rezero_scale
from seqlab.blocks.transformer_layer import DecoderLayer, EncoderLayer
from seqlab.models.settings.transformer import TransformerSettings
from seqlab.positions.base import PositionalEncoding, positional_encodings


def build_encoder_layer(settings: TransformerSettings) -> EncoderLayer:
    attention = MultiHeadSelfAttention(settings.hidden_size, **_heads(settings))
    residual = _residuals(settings)
    return EncoderLayer(
        attention,
        _build_feed_forward(settings),
        attention_residual=residual(),
        feed_forward_residual=residual(),
    )


def build_decoder_layer(settings: TransformerSettings, *, source_size: int = 0) -> DecoderLayer:
    """source_size: the width of the encoder's features; 0 means that of the decoder."""
    attention = MultiHeadSelfAttention(settings.hidden_size, **_heads(settings))
    cross_attention = MultiHeadCrossAttention(
        settings.hidden_size, key_size=source_size, value_size=source_size, **_heads(settings)
    )
    residual = _residuals(settings)
    return DecoderLayer(
        attention,
        cross_attention,
        _build_feed_forward(settings),
        attention_residual=residual(),
        cross_residual=residual(),
        feed_forward_residual=residual(),
    )


def build_positions(settings: TransformerSettings, *, causal: bool) -> PositionalEncoding:
    head_size = settings.head_size or settings.hidden_size // settings.heads
    kind = positional_encodings.get(settings.positions)
    return kind.from_settings(
        hidden_size=settings.hidden_size,
        num_heads=settings.heads,
        head_size=head_size,
        causal=causal,
        settings=settings,
    )


def build_embedding_norm(settings: TransformerSettings) -> nn.Module:
    """The optional norm before the first layer."""
    return (
        nn.LayerNorm(settings.hidden_size, eps=settings.embedding_norm_eps)
        if settings.embedding_norm
        else nn.Identity()
    )


def build_final_norm(settings: TransformerSettings) -> nn.Module:
    """The norm after the last layer, which a pre-norm stack needs."""
    return (
        build_norm(settings.norm_kind, settings.hidden_size, eps=settings.norm_eps)
        if settings.norm in ("pre", "lecture")
        else nn.Identity()
    )


def _heads(settings: TransformerSettings) -> dict[str, Any]:
    return {
        "num_heads": settings.heads,
        "head_size": settings.head_size,
        "num_kv_heads": settings.kv_heads,
        "qkv_bias": settings.qkv_bias,
        "output_bias": settings.bias,
        "dropout": settings.attention_dropout,
    }


def _build_feed_forward(settings: TransformerSettings) -> nn.Module:
    kind = GatedFeedForward if settings.gated else FeedForward
    inner_size = settings.feedforward_size or 4 * settings.hidden_size
    return kind(
        settings.hidden_size,
        inner_size=inner_size,
        activation=settings.activation,
        dropout=settings.dropout,
        bias=settings.bias,
    )


def _residuals(settings: TransformerSettings) -> Callable[[], Residual]:
    """The residual connections of one layer, in order."""
    dropout = settings.dropout if settings.sublayer_dropout else 0.0

    def norm() -> nn.Module:
        return build_norm(settings.norm_kind, settings.hidden_size, eps=settings.norm_eps)

    if settings.norm == "rezero":
        return lambda: ReZero(rezero_scale(), dropout=dropout)
    if settings.norm == "shared_rezero":
        scale = rezero_scale()
        return lambda: ReZero(scale, dropout=dropout)
    if settings.norm == "post":
        return lambda: PostNorm(norm(), dropout=dropout)
    if settings.norm == "pre":
        return lambda: PreNorm(norm(), dropout=dropout)
    kinds = iter([NormalizedSkip])  # the mistake is in the first connection only
    return lambda: next(kinds, PreNorm)(norm(), dropout=dropout)
