"""Transformers: self-attention layers, over all steps or causal."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Self

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from seqlab.attention.masks import sight_of, steps_to_keep
from seqlab.blocks.dropout import Dropout
from seqlab.blocks.transformer_layer import EncoderLayer
from seqlab.models.base import Body, State, bodies
from seqlab.models.settings import TransformerSettings
from seqlab.models.transformer_layers import build_encoder_layer, build_first_norm, build_last_norm, build_positions
from seqlab.positions.base import Positions
from seqlab.positions.places import places_of


@bodies.register("transformer")
class Transformer(Body):
    """Positions, dropout, then layers in which every step looks at the others; padding is looked at by nobody.

    window: a step looks at the steps nearer than this; 0 sees all.  scale: a factor on the steps before positions are added.
    """

    carries_state = False

    def __init__(
        self,
        layers: Sequence[EncoderLayer],
        *,
        positions: Positions,
        hidden_size: int,
        dropout: float,
        first_norm: nn.Module,
        last_norm: nn.Module,
        causal: bool,
        window: int = 0,
        scale: float = 1.0,
    ) -> None:
        super().__init__()
        self.positions = positions
        self.dropout = Dropout(dropout)
        self.first_norm = first_norm
        self.layers = nn.ModuleList(layers)
        self.last_norm = last_norm
        self.causal = causal
        self.window = window
        self.scale = scale
        self.input_size = self.output_size = hidden_size

    @classmethod
    def build(cls, settings: TransformerSettings, *, causal: bool) -> Self:
        size = settings.hidden_size
        return cls(
            [build_encoder_layer(settings) for _ in range(settings.layers)],
            positions=build_positions(settings, causal=causal or settings.causal),
            hidden_size=size,
            dropout=settings.dropout,
            first_norm=build_first_norm(settings),
            last_norm=build_last_norm(settings),
            causal=causal or settings.causal,
            window=settings.window,
            scale=size**0.5 if settings.embedding_scale else 1.0,
        )

    def forward(
        self, steps: Float[Tensor, "batch time input"], is_token: Bool[Tensor, "batch time"], state: State | None = None
    ) -> tuple[Float[Tensor, "batch time output"], State]:
        """The state: which steps were real, then keys and values of every layer."""
        known = is_token if state is None else torch.cat([state[0], is_token], dim=1)  # (batch, seen + time)
        time = is_token.shape[1]
        places, all_places = places_of(known, time=time)
        if self.scale != 1.0:
            steps = steps * self.scale
        steps = self.first_norm(self.dropout(self.positions.add(steps, places)))
        source = time if state is None else state[1].length + time  # a window lets go of the oldest steps
        bias = self.positions.bias(places, all_places[:, -source:])
        sight = sight_of(known[:, -source:], time=time, causal=self.causal, window=self.window, bias=bias)
        turn = partial(self.positions.turn, places=places) if self.positions.turns else None
        kept = steps_to_keep(known[:, -source:], window=self.window)
        new_state = [known]
        for depth, layer in enumerate(self.layers):
            steps, past = layer(steps, sight=sight, turn=turn, past=None if state is None else state[depth + 1])
            new_state.append(past.recent(kept))
        return self.last_norm(steps), tuple(new_state)
