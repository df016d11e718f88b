"""Transformers: self-attention layers, over all steps or causal."""

from __future__ import annotations

from typing import Self

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from seqlab.models.base import Body, State, bodies
from seqlab.models.settings import TransformerSettings
from seqlab.models.transformer_layers import build_encoder_layer
from seqlab.models.transformer_stack import TransformerStack


@bodies.register("transformer")
class Transformer(TransformerStack, Body):
    """Layers in which every step looks at the others, or (causal) at the earlier ones; padding is looked at by nobody."""

    carries_state = False

    @classmethod
    def build(cls, settings: TransformerSettings, *, causal: bool) -> Self:
        return cls([build_encoder_layer(settings) for _ in range(settings.layers)], settings, causal=causal or settings.causal)

    def forward(
        self, steps: Float[Tensor, "batch time input"], is_token: Bool[Tensor, "batch time"], state: State | None = None
    ) -> tuple[Float[Tensor, "batch time output"], State]:
        """The state: which steps were real, then keys and values of every layer."""
        known = is_token if state is None else torch.cat([state[0], is_token], dim=1)  # (batch, seen + time)
        entered = self._enter(steps, known, remembered=0 if state is None else state[1].length)
        steps, new_state = entered.steps, [known]
        for depth, layer in enumerate(self.layers, start=1):
            steps, past = layer(steps, sight=entered.sight, turn=entered.turn, past=None if state is None else state[depth])
            new_state.append(past.recent(entered.kept))
        return self.last_norm(steps), tuple(new_state)
