"""What an encoder and a decoder share: how steps enter their layers, and what they see there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from jaxtyping import Bool, Float
from torch import Tensor, nn

from seqlab.attention.masks import Sight, sight_of, steps_to_keep
from seqlab.attention.multi_head import Turn
from seqlab.blocks.dropout import Dropout
from seqlab.models.settings import TransformerSettings
from seqlab.models.transformer_layers import build_first_norm, build_last_norm, build_positions
from seqlab.positions.offsets import places_of


@dataclass(frozen=True)
class Entered:
    """Steps as the first layer gets them, and what every layer needs besides."""

    steps: Float[Tensor, "batch time hidden"]
    sight: Sight
    turn: Turn | None
    kept: int
    """So many of the newest steps will still be seen by a later one."""


class TransformerStack(nn.Module):
    """Scale, positions, dropout and a norm before a stack of layers, and a norm after it."""

    def __init__(self, layers: Sequence[nn.Module], settings: TransformerSettings, *, causal: bool) -> None:
        super().__init__()
        size = settings.hidden_size
        self.positions = build_positions(settings, causal=causal)
        self.dropout = Dropout(settings.dropout)
        self.first_norm = build_first_norm(settings)
        self.layers = nn.ModuleList(layers)
        self.last_norm = build_last_norm(settings)
        self.causal = causal
        self.window = settings.window
        self.scale = size**0.5 if settings.embedding_scale else 1.0
        self.input_size = self.output_size = size

    def _enter(self, steps: Float[Tensor, "batch time hidden"], known: Bool[Tensor, "batch seen"], *, remembered: int) -> Entered:
        """`known` says of all steps so far whether they were real; keys and values of the last `remembered` before the new ones are at hand."""
        time = steps.shape[1]
        places, all_places = places_of(known, time=time)
        if self.scale != 1.0:
            steps = steps * self.scale
        steps = self.first_norm(self.dropout(self.positions.add(steps, places)))
        source = remembered + time  # a window has let go of the oldest steps
        bias = self.positions.bias(places, all_places[:, -source:])
        sight = sight_of(known[:, -source:], time=time, causal=self.causal, window=self.window, bias=bias)
        turn = partial(self.positions.turn, places=places) if self.positions.turns else None
        return Entered(steps, sight, turn, kept=steps_to_keep(known[:, -source:], window=self.window))
