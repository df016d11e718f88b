"""The decoder of an encoder-decoder Transformer: causal self-attention and cross-attention to a source."""

from __future__ import annotations

from typing import Self

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from seqlab.attention.masks import AttentionMask
from seqlab.attention.recording import record_alignments
from seqlab.blocks.transformer_layer import DecoderLayer
from seqlab.models.base import ModelState
from seqlab.models.decoders.base import Alignment, Decoder, DecoderState
from seqlab.models.settings.transformer import TransformerSettings
from seqlab.models.transformer_layers import build_decoder_layer
from seqlab.models.transformer_stack import TransformerStack


class TransformerSeq2SeqDecoder(TransformerStack, Decoder):
    """Layers in which every step attends to the steps so far and to the whole source.

    Hypotheses of one source are treated as additional queries, so its keys and values are never copied.
    """

    @classmethod
    def from_settings(cls, settings: TransformerSettings, *, source_size: int = 0) -> Self:
        """source_size: the width of the source's features; 0 takes hidden_size."""
        return cls(
            [build_decoder_layer(settings, source_size=source_size) for _ in range(settings.layers)],
            settings,
            causal=True,
        )

    def init_state(
        self,
        features: Float[Tensor, "batch source size"],
        is_token: Bool[Tensor, "batch source"],
        final_state: ModelState = (),
    ) -> DecoderState:
        """The source part of the state: which steps are real, then keys and values for every layer."""
        return DecoderState(
            (is_token, *(layer.cross_attention.project_source(features) for layer in self._layers()))
        )

    def forward(
        self,
        steps: Float[Tensor, "hypotheses time input"],
        is_token: Bool[Tensor, "hypotheses time"],
        decoder_state: DecoderState,
    ) -> tuple[Float[Tensor, "hypotheses time output"], DecoderState]:
        """The cache: which steps were real, then their keys and values for every layer."""
        seen = decoder_state.cache
        all_is_token = (
            torch.cat([seen[0], is_token], dim=1) if seen else is_token
        )  # (hypotheses, seen + time)
        inputs = self._prepare_inputs(steps, all_is_token, num_cached=seen[1].length if seen else 0)
        source_mask = _source_mask(decoder_state.source[0])
        steps, caches = inputs.steps, []
        for depth, layer in enumerate(self.layers, start=1):
            cache = seen[depth] if seen else None
            steps, cache = layer(
                steps,
                decoder_state.source[depth],
                mask=inputs.mask,
                source_mask=source_mask,
                apply_rotary=inputs.apply_rotary,
                cache=cache,
            )
            caches.append(cache.truncate(inputs.num_to_keep))
        return self.last_norm(steps), decoder_state.with_cache((all_is_token, *caches))

    def forward_with_alignment(
        self,
        steps: Float[Tensor, "hypotheses time input"],
        is_token: Bool[Tensor, "hypotheses time"],
        decoder_state: DecoderState,
    ) -> tuple[Float[Tensor, "hypotheses time output"], DecoderState, Alignment]:
        """Attention weights: the mean over the heads of the last layer."""
        with record_alignments(self._layers()[-1].cross_attention) as alignments:
            features, decoder_state = self(steps, is_token, decoder_state)
        return features, decoder_state, alignments[""][0].mean(dim=1).reshape(*is_token.shape, -1)

    def _layers(self) -> list[DecoderLayer]:
        return [layer for layer in self.layers if isinstance(layer, DecoderLayer)]


def _source_mask(is_token: Bool[Tensor, "batch source"]) -> AttentionMask:
    """Padding of a source is masked; without padding there is no mask."""
    return AttentionMask() if bool(is_token.all()) else AttentionMask(is_token[:, None, None, :])
