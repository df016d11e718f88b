"""An encoder-decoder for searches, which decode one new token of every hypothesis at a time."""

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
    """An encoder-decoder with a Transformer decoder: same logits up to rounding, with half the number of
    calls.

    * A real token after real tokens attends to all of them: there is no mask, and only its own position is
      looked up.
    * The keys and values of all layers are stacked in one `KVCache`, so a search reorders its hypotheses
      once instead of layer by layer.
    * Matrices are stored in the layout that is fastest for few rows and used without module overhead. They
      are copies: build a new decoder when the weights of the network change.

    It is immutable: everything specific to a search is in its `DecoderState`, so any number of threads may
    share it. Several tokens at once, padding, gradients and alignments are handled by the network itself,
    which continues from the state after a step.
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
        """Whether every module of a network is supported and has no hooks."""
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
            and network.bias.device.type == "cpu"  # not measured on other devices
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
        """Features of the newest step; its keys and values are appended to the cache."""
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
        """The cache before the first step."""
        layer = self._layers[0]
        empty = self._embedding.new_empty(len(self._layers) * hypotheses, layer.kv_heads, 0, layer.head_size)
        return KVCache.from_tensors(empty, empty)


def _is_single_step(state: DecoderState) -> bool:
    """Whether this is a state of single-step decoding, not of the network itself."""
    return isinstance(state.source[0], PackedSource) and (
        not state.cache or isinstance(state.cache[0], StackedCache)
    )


def _has_hooks(module: nn.Module) -> bool:
    return bool(module._forward_hooks or module._forward_pre_hooks)  # noqa: SLF001  # torch offers no other way to ask
