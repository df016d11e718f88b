"""The decoder of an encoder-decoder Transformer: it looks back at its own steps, and over to a source."""

from __future__ import annotations

from typing import Self

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from seqlab.attention.masks import Sight
from seqlab.attention.recording import record_alignments
from seqlab.blocks.transformer_layer import DecoderLayer
from seqlab.models.base import State
from seqlab.models.decoders.base import Alignment, Decoder, Writing
from seqlab.models.settings import TransformerSettings
from seqlab.models.transformer_layers import build_decoder_layer
from seqlab.models.transformer_stack import TransformerStack


class TransformerDecoder(TransformerStack, Decoder):
    """Layers in which every step looks at the steps so far and at all of the source.

    Hypotheses of one source are further queries to its keys and values, which are never copied for them.
    """

    @classmethod
    def build(cls, settings: TransformerSettings, *, source_size: int = 0) -> Self:
        """source_size: the width of the source's features; 0 takes hidden_size."""
        return cls([build_decoder_layer(settings, source_size=source_size) for _ in range(settings.layers)], settings, causal=True)

    def start(self, features: Float[Tensor, "batch source size"], is_token: Bool[Tensor, "batch source"], ended: State = ()) -> Writing:
        """Of the source: which steps are real, then its keys and values for every layer."""
        return Writing((is_token, *(layer.cross_attention.read(features) for layer in self._layers())))

    def forward(
        self, steps: Float[Tensor, "hypotheses time input"], is_token: Bool[Tensor, "hypotheses time"], writing: Writing
    ) -> tuple[Float[Tensor, "hypotheses time output"], Writing]:
        """Of the past: which steps were real, then their keys and values for every layer."""
        seen = writing.past
        known = torch.cat([seen[0], is_token], dim=1) if seen else is_token  # (hypotheses, seen + time)
        entered = self._enter(steps, known, remembered=seen[1].length if seen else 0)
        source_sight = _source_sight(writing.source[0])
        steps, pasts = entered.steps, []
        for depth, layer in enumerate(self.layers, start=1):
            past = seen[depth] if seen else None
            steps, past = layer(steps, writing.source[depth], sight=entered.sight, source_sight=source_sight, turn=entered.turn, past=past)
            pasts.append(past.recent(entered.kept))
        return self.last_norm(steps), writing.after((known, *pasts))

    def align(
        self, steps: Float[Tensor, "hypotheses time input"], is_token: Bool[Tensor, "hypotheses time"], writing: Writing
    ) -> tuple[Float[Tensor, "hypotheses time output"], Writing, Alignment]:
        """The mean over the heads of the last layer."""
        with record_alignments(self._layers()[-1].cross_attention) as found:
            features, writing = self(steps, is_token, writing)
        return features, writing, found[""][0].mean(dim=1).reshape(*is_token.shape, -1)

    def _layers(self) -> list[DecoderLayer]:
        return [layer for layer in self.layers if isinstance(layer, DecoderLayer)]


def _source_sight(is_token: Bool[Tensor, "batch source"]) -> Sight:
    """Padding of a source is looked at by nobody; where there is none, no mask is needed."""
    return Sight() if bool(is_token.all()) else Sight(is_token[:, None, None, :])
