"""Transformers: self-attention layers, bidirectional or causal."""

from __future__ import annotations

from typing import Self

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from seqlab.models.base import Backbone, ModelState, backbones
from seqlab.models.settings.transformer import TransformerSettings
from seqlab.models.transformer_layers import build_encoder_layer
from seqlab.models.transformer_stack import TransformerStack


@backbones.register("transformer")
class TransformerBackbone(TransformerStack, Backbone):
    """Layers in which every step attends to all steps or, if causal, to itself and earlier ones; padding
    is masked.
    """

    is_stateful = False

    @classmethod
    def from_settings(cls, settings: TransformerSettings, *, causal: bool) -> Self:
        return cls(
            [build_encoder_layer(settings) for _ in range(settings.layers)],
            settings,
            causal=causal or settings.causal,
        )

    def forward(
        self,
        steps: Float[Tensor, "batch time input"],
        is_token: Bool[Tensor, "batch time"],
        state: ModelState | None = None,
    ) -> tuple[Float[Tensor, "batch time output"], ModelState]:
        """The state: which steps were real, then keys and values of every layer."""
        all_is_token = (
            is_token if state is None else torch.cat([state[0], is_token], dim=1)
        )  # (batch, seen + time)
        inputs = self._prepare_inputs(steps, all_is_token, num_cached=0 if state is None else state[1].length)
        steps, new_state = inputs.steps, [all_is_token]
        for depth, layer in enumerate(self.layers, start=1):
            steps, cache = layer(
                steps,
                mask=inputs.mask,
                apply_rotary=inputs.apply_rotary,
                cache=None if state is None else state[depth],
            )
            new_state.append(cache.truncate(inputs.num_to_keep))
        return self.last_norm(steps), tuple(new_state)
