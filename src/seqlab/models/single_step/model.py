"""An encoder-decoder for a search, which asks for one new token of every hypothesis at a time."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import torch
from jaxtyping import Bool, Float, Int, Shaped
from torch import Tensor, nn
from torch.nn import functional as F

from seqlab.attention.kv_cache import KVCache
from seqlab.attention.recording import is_recording_alignments
from seqlab.blocks.transformer_layer import DecoderLayer
from seqlab.models.decoders.base import Alignment, DecoderState
from seqlab.models.decoders.transformer import TransformerSeq2SeqDecoder
from seqlab.models.encoder_decoder import EncoderDecoder
from seqlab.models.single_step.layer import (
    Rows,
    SelfAttentionCache,
    SingleStepLayer,
    SourceCache,
    functional_norm,
)
from seqlab.models.single_step.product import PackedLinear
from seqlab.models.single_step.state import PackedSource, StackedCache, to_network_state
from seqlab.positions.learned import LearnedPositions
from seqlab.positions.none import NoPositions
from seqlab.positions.rotary import RotaryPositions
from seqlab.positions.sinusoidal import SinusoidalPositions

POSITIONS = (LearnedPositions, NoPositions, RotaryPositions, SinusoidalPositions)
"""Those that add nothing to the scores."""


class SingleStepDecoder:
    """An encoder-decoder with a Transformer decoder, with the same logits to rounding, in half of the calls.

    * A real token behind real tokens attends to them all: no mask is made, and no position but its own is
      looked up.
    * Keys and values of all layers are one `KVCache`, one layer behind the other: a search reorders its
      hypotheses once, not layer by layer.
    * Matrices lie in memory as a product with few rows reads them, and are used without the modules around
      them. They are copies: when the weights of the network change, a new one must be made.

    Nothing in it changes after it was built: all that differs between two searches is in their `DecoderState`,
    so any number of threads may use it at once. Several tokens at once, padding, gradients and alignments are
    left to the network itself, which continues from where a step ended.
    """

    def __init__(self, network: EncoderDecoder) -> None:
        assert self.supports(network)
        assert isinstance(network.decoder, TransformerSeq2SeqDecoder)
        self.network = network
        self._decoder = network.decoder
        self._layers = tuple(
            SingleStepLayer(layer) for layer in network.decoder.layers if isinstance(layer, DecoderLayer)
        )
        self._last_norm = functional_norm(network.decoder.last_norm)
        self._embedding = network.embed_target.weight.detach()
        self._output = PackedLinear(network.output_weight, network.bias)

    @staticmethod
    def supports(network: object) -> bool:
        """Whether every part of a network is known here, and nobody has put hooks on it."""
        if (
            type(network) is not EncoderDecoder
            or type(network.decoder) is not TransformerSeq2SeqDecoder
            or network.training
        ):
            return False
        decoder = network.decoder
        return (
            type(decoder.positions) in POSITIONS
            and not decoder.window
            and all(SingleStepLayer.supports(layer) for layer in decoder.layers)
            and not any(_has_hooks(module) for module in network.modules())
            and network.bias.device.type == "cpu"  # nothing was measured elsewhere
        )

    def encode(
        self, source: Shaped[Tensor, "batch source *features"], source_is_token: Bool[Tensor, "batch source"]
    ) -> DecoderState:
        state = self.network.encode(source, source_is_token)
        return replace(state, source=(PackedSource.pack(state.source),))

    def decode(
        self,
        targets: Int[Tensor, "hypotheses time"],
        is_token: Bool[Tensor, "hypotheses time"],
        decoder_state: DecoderState,
    ) -> tuple[Float[Tensor, "hypotheses time vocab"], DecoderState]:
        source, is_single = decoder_state.source[0], targets.shape[1] == 1 and bool(is_token.all())
        if (
            not is_single
            or torch.is_grad_enabled()
            or is_recording_alignments()
            or not _is_single_step(decoder_state)
            or not source.can_step
        ):
            return self.network.decode(targets, is_token, to_network_state(decoder_state))
        cache = decoder_state.cache[0].cache if decoder_state.cache else self._empty_cache(len(targets))
        features, cache = self._step(targets, cache, source.layers)
        return self._output(features).unsqueeze(1), decoder_state.with_cache(
            (StackedCache(cache, len(self._layers)),)
        )

    def decode_with_alignment(
        self,
        targets: Int[Tensor, "hypotheses time"],
        is_token: Bool[Tensor, "hypotheses time"],
        decoder_state: DecoderState,
    ) -> tuple[Float[Tensor, "hypotheses time vocab"], DecoderState, Alignment | None]:
        return self.network.decode_with_alignment(targets, is_token, to_network_state(decoder_state))

    def _step(
        self, targets: Int[Tensor, "hypotheses 1"], cache: KVCache, source_caches: tuple[SourceCache, ...]
    ) -> tuple[Rows, KVCache]:
        """Features of the newest step; what the layers write of it stands behind what they wrote before."""
        decoder, position_id = self._decoder, torch.tensor([[cache.length]])
        steps = F.embedding(targets, self._embedding)
        steps = steps if decoder.scale == 1.0 else steps * decoder.scale
        rows = decoder.first_norm(decoder.positions.add(steps, position_id)).squeeze(1)
        apply_rotary = (
            partial(decoder.positions.apply_rotary, position_ids=position_id)
            if decoder.positions.is_rotary
            else None
        )
        cache = cache.extend_empty(1)
        keys, values = cache.keys, cache.values
        parts = (part.chunk(len(self._layers)) for part in (keys, values, keys[:, :, -1:], values[:, :, -1:]))
        for layer, layer_parts, source in zip(
            self._layers, zip(*parts, strict=True), source_caches, strict=True
        ):
            rows = layer(rows, SelfAttentionCache(*layer_parts), source, apply_rotary)
        return self._last_norm(rows), cache

    def _empty_cache(self, hypotheses: int) -> KVCache:
        """Before the first step."""
        layer = self._layers[0]
        empty = self._embedding.new_empty(len(self._layers) * hypotheses, layer.kv_heads, 0, layer.head_size)
        return KVCache.from_tensors(empty, empty)


def _is_single_step(state: DecoderState) -> bool:
    """Whether the state is one of single steps, not of the network itself."""
    return isinstance(state.source[0], PackedSource) and (
        not state.cache or isinstance(state.cache[0], StackedCache)
    )


def _has_hooks(module: nn.Module) -> bool:
    return bool(module._forward_hooks or module._forward_pre_hooks)  # noqa: SLF001  # torch offers no other way to ask
