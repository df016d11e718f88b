"""Transformers: self-attention layers, over all steps or causal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from seqlab.attention.multi_head import MultiHeadSelfAttention
from seqlab.blocks.dropout import Dropout
from seqlab.blocks.feed_forward import FeedForward
from seqlab.blocks.positions import LearnedPositions, NoPositions, SinusoidalPositions
from seqlab.blocks.transformer_layer import PostNormLayer, PreNormLayer, TransformerLayer
from seqlab.models.base import Body, State, bodies
from seqlab.models.settings import TransformerSettings


@bodies.register("transformer")
class Transformer(Body):
    """Positions, dropout, then layers in which every step looks at the others; padding is looked at by nobody."""

    carries_state = False

    def __init__(
        self,
        layers: Sequence[TransformerLayer],
        *,
        positions: nn.Module,
        hidden_size: int,
        dropout: float,
        first_norm: nn.Module,
        last_norm: nn.Module,
        causal: bool,
    ) -> None:
        super().__init__()
        self.positions = positions
        self.dropout = Dropout(dropout)
        self.first_norm = first_norm
        self.layers = nn.ModuleList(layers)
        self.last_norm = last_norm
        self.causal = causal
        self.input_size = self.output_size = hidden_size

    @classmethod
    def build(cls, settings: TransformerSettings, *, causal: bool) -> Self:
        size = settings.hidden_size
        pre_norm = settings.norm == "pre"
        return cls(
            [_build_layer(settings) for _ in range(settings.layers)],
            positions=_build_positions(settings),
            hidden_size=size,
            dropout=settings.dropout,
            first_norm=nn.LayerNorm(size, eps=1e-12) if settings.embedding_norm else nn.Identity(),
            last_norm=nn.LayerNorm(size, eps=settings.norm_eps) if pre_norm else nn.Identity(),  # a pre-norm stack ends un-normalised
            causal=causal,
        )

    def forward(
        self, steps: Float[Tensor, "batch time input"], is_token: Bool[Tensor, "batch time"], state: State | None = None
    ) -> tuple[Float[Tensor, "batch time output"], State]:
        """The state: which steps were real, then keys and values of every layer."""
        was_token = None if state is None else state[0]  # (batch, seen)
        start = None if was_token is None else was_token.sum(dim=1)  # (batch,)
        steps = self.first_norm(self.dropout(self.positions(steps, start=start)))
        known = is_token if was_token is None else torch.cat([was_token, is_token], dim=1)  # (batch, seen + time)
        may_attend = self._may_attend(known, time=is_token.shape[1])
        new_state = [known]
        for depth, layer in enumerate(self.layers):
            cache = None if state is None else (state[2 * depth + 1], state[2 * depth + 2])
            steps, cache = layer(steps, may_attend=may_attend, causal=self.causal, cache=cache)
            new_state.extend(cache)
        return self.last_norm(steps), tuple(new_state)

    def _may_attend(self, known: Bool[Tensor, "batch source"], *, time: int) -> Bool[Tensor, "batch 1 source"] | None:
        """No mask where padding is not seen anyway: a causal model's real steps never look at padding behind them."""
        visible = known[:, : known.shape[1] - time] if self.causal else known
        return None if bool(visible.all()) else known.unsqueeze(1)


def _build_layer(settings: TransformerSettings) -> TransformerLayer:
    size = settings.hidden_size
    attention = MultiHeadSelfAttention(size, num_heads=settings.heads, qkv_bias=settings.qkv_bias, dropout=settings.attention_dropout)
    feed_forward = FeedForward(size, inner_size=settings.feedforward_size or 4 * size, activation=settings.activation, dropout=settings.dropout)
    layer = PreNormLayer if settings.norm == "pre" else PostNormLayer
    return layer(attention, feed_forward, hidden_size=size, dropout=settings.dropout if settings.sublayer_dropout else 0.0, eps=settings.norm_eps)


def _build_positions(settings: TransformerSettings) -> nn.Module:
    if settings.positions == "learned":
        return LearnedPositions(settings.hidden_size, max_length=settings.max_positions)
    return SinusoidalPositions(settings.hidden_size) if settings.positions == "sinusoidal" else NoPositions()
