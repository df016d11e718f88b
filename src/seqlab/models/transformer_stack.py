"""Shared by Transformer encoders and decoders: embedding of positions, and attention masks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from jaxtyping import Bool, Float
from torch import Tensor, nn

from seqlab.attention.masks import AttentionMask, attention_mask, num_steps_to_keep
from seqlab.attention.multi_head import ApplyRotary
from seqlab.blocks.dropout import Dropout
from seqlab.models.settings.transformer import TransformerSettings
from seqlab.models.transformer_layers import build_embedding_norm, build_final_norm, build_positions
from seqlab.positions.offsets import compute_position_ids


@dataclass(frozen=True)
class StackInputs:
    """The input of the first layer, and what every layer needs in addition."""

    steps: Float[Tensor, "batch time hidden"]
    mask: AttentionMask
    apply_rotary: ApplyRotary | None
    num_to_keep: int
    """How many of the newest steps a later step will still see."""


class TransformerStack(nn.Module):
    """Scale, positions, dropout and a norm before a stack of layers, and a norm after it."""

    def __init__(self, layers: Sequence[nn.Module], settings: TransformerSettings, *, causal: bool) -> None:
        super().__init__()
        size = settings.hidden_size
        self.positions = build_positions(settings, causal=causal)
        self.dropout = Dropout(settings.dropout)
        self.first_norm = build_embedding_norm(settings)
        self.layers = nn.ModuleList(layers)
        self.last_norm = build_final_norm(settings)
        self.causal = causal
        self.window = settings.window
        self.scale = size**0.5 if settings.embedding_scale else 1.0
        self.input_size = self.output_size = size

    def _prepare_inputs(
        self,
        steps: Float[Tensor, "batch time hidden"],
        all_is_token: Bool[Tensor, "batch seen"],
        *,
        num_cached: int,
    ) -> StackInputs:
        """`all_is_token` marks the real steps among all steps so far; keys and values of the last
        `num_cached` steps before the new ones are cached.
        """
        time = steps.shape[1]
        position_ids, all_position_ids = compute_position_ids(all_is_token, time=time)
        if self.scale != 1.0:
            steps = steps * self.scale
        steps = self.first_norm(self.dropout(self.positions.add(steps, position_ids)))
        source = num_cached + time  # a window has dropped the oldest steps
        bias = self.positions.bias(position_ids, all_position_ids[:, -source:])
        mask = attention_mask(
            all_is_token[:, -source:], time=time, causal=self.causal, window=self.window, bias=bias
        )
        apply_rotary = (
            partial(self.positions.apply_rotary, position_ids=position_ids)
            if self.positions.is_rotary
            else None
        )
        return StackInputs(
            steps,
            mask,
            apply_rotary,
            num_to_keep=num_steps_to_keep(all_is_token[:, -source:], window=self.window),
        )
