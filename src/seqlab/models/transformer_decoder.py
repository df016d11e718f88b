"""The decoder of an encoder-decoder Transformer: it looks back at its own steps, and over to a source."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Self

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from seqlab.attention.masks import Sight, sight_of, steps_to_keep
from seqlab.blocks.dropout import Dropout
from seqlab.blocks.transformer_layer import DecoderLayer
from seqlab.models.base import State
from seqlab.models.settings import TransformerSettings
from seqlab.models.transformer_layers import build_decoder_layer, build_first_norm, build_last_norm, build_positions
from seqlab.positions.base import Positions
from seqlab.positions.places import places_of


class TransformerDecoder(nn.Module):
    """Positions, dropout, then layers in which every step looks at the steps so far and at all of the source.

    A source is read once: `start` gives the state before the first step, `forward` goes on from a state. Steps may come all at once
    or one by one; both give the same features. Options are those of `Transformer`.
    """

    def __init__(
        self,
        layers: Sequence[DecoderLayer],
        *,
        positions: Positions,
        hidden_size: int,
        dropout: float,
        first_norm: nn.Module,
        last_norm: nn.Module,
        window: int = 0,
        scale: float = 1.0,
    ) -> None:
        super().__init__()
        self.positions = positions
        self.dropout = Dropout(dropout)
        self.first_norm = first_norm
        self.layers = nn.ModuleList(layers)
        self.last_norm = last_norm
        self.window = window
        self.scale = scale
        self.input_size = self.output_size = hidden_size

    @classmethod
    def build(cls, settings: TransformerSettings, *, source_size: int = 0) -> Self:
        """source_size: the width of the source's features; 0 takes hidden_size."""
        return cls(
            [build_decoder_layer(settings, source_size=source_size) for _ in range(settings.layers)],
            positions=build_positions(settings, causal=True),
            hidden_size=settings.hidden_size,
            dropout=settings.dropout,
            first_norm=build_first_norm(settings),
            last_norm=build_last_norm(settings),
            window=settings.window,
            scale=settings.hidden_size**0.5 if settings.embedding_scale else 1.0,
        )

    def start(self, source: Float[Tensor, "batch source size"], source_is_token: Bool[Tensor, "batch source"]) -> State:
        """The state before the first step: which steps of the source are real, then its keys and values for every layer."""
        return (source_is_token, *(layer.cross_attention.read(source) for layer in self._layers()))

    def forward(
        self, steps: Float[Tensor, "batch time input"], is_token: Bool[Tensor, "batch time"], state: State
    ) -> tuple[Float[Tensor, "batch time output"], State]:
        """The state after it: what `start` gave, then which steps were real, then their keys and values for every layer."""
        source, seen = state[: len(self.layers) + 1], state[len(self.layers) + 1 :]
        known = torch.cat([seen[0], is_token], dim=1) if seen else is_token  # (batch, seen + time)
        time = is_token.shape[1]
        places, all_places = places_of(known, time=time)
        if self.scale != 1.0:
            steps = steps * self.scale
        steps = self.first_norm(self.dropout(self.positions.add(steps, places)))
        remembered = seen[1].length + time if seen else time  # a window lets go of the oldest steps
        bias = self.positions.bias(places, all_places[:, -remembered:])
        sight = sight_of(known[:, -remembered:], time=time, causal=True, window=self.window, bias=bias)
        source_sight = _source_sight(source[0])
        turn = partial(self.positions.turn, places=places) if self.positions.turns else None
        kept = steps_to_keep(known[:, -remembered:], window=self.window)
        pasts = []
        for depth, layer in enumerate(self.layers, start=1):
            steps, past = layer(steps, source[depth], sight=sight, source_sight=source_sight, turn=turn, past=seen[depth] if seen else None)
            pasts.append(past.recent(kept))
        return self.last_norm(steps), (*source, known, *pasts)

    def _layers(self) -> list[DecoderLayer]:
        return [layer for layer in self.layers if isinstance(layer, DecoderLayer)]


def _source_sight(is_token: Bool[Tensor, "batch source"]) -> Sight:
    """Padding of a source is looked at by nobody; where there is none, no mask is needed."""
    return Sight() if bool(is_token.all()) else Sight(is_token[:, None, None, :])
