"""An encoder-decoder made ready for a search, which asks for one new token of every hypothesis after the
other.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import torch
from jaxtyping import Bool, Float, Int, Shaped
from torch import Tensor, nn
from torch.nn import functional as F

from seqlab.attention.kv_cache import KVCache
from seqlab.attention.recording import RecordableAttention
from seqlab.blocks.transformer_layer import DecoderLayer
from seqlab.models.base import ModelState
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
from seqlab.positions.learned import LearnedPositions
from seqlab.positions.none import NoPositions
from seqlab.positions.rotary import RotaryPositions
from seqlab.positions.sinusoidal import SinusoidalPositions

POSITIONS = (LearnedPositions, NoPositions, RotaryPositions, SinusoidalPositions)
"""Those that add nothing to the scores."""


class SingleStepDecoder:
    """The translator that a network with a Transformer decoder is, with the same logits to rounding, in half
    of the calls.

    * A real token behind real tokens sees them all: no mask is made, and no place but its own is looked up.
    * Keys and values of all layers are one `KVCache`, one layer behind the other: a search moves its
        hypotheses once, not layer by layer.
    * Matrices lie in memory as a product with few rows reads them, and are used without the modules around
        them. They are copies: when
      the network has learned on, a new one must be made.

    Several tokens at once, padding, gradients and alignments are left to the network itself, which goes on
    from where a step ended.
    """

    def __init__(self, network: EncoderDecoder) -> None:
        assert self.supports(network)
        assert isinstance(network.decoder, TransformerSeq2SeqDecoder)
        self.network = network
        self._decoder = network.decoder
        self._layers = [
            SingleStepLayer(layer) for layer in network.decoder.layers if isinstance(layer, DecoderLayer)
        ]
        self._last_norm = functional_norm(network.decoder.last_norm)
        self._embedding = network.embed_target.weight.detach()
        self._output = PackedLinear(network.output_weight, network.bias)
        self._source: tuple[ModelState, list[SourceCache] | None] = (), None

    @staticmethod
    def supports(network: object) -> bool:
        """Whether every part of a network is known here, and nobody looks into it."""
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
            and not any(_is_observed(module) for module in network.modules())
            and network.bias.device.type == "cpu"  # nothing was measured elsewhere
        )

    def encode(
        self, source: Shaped[Tensor, "batch source *features"], source_is_token: Bool[Tensor, "batch source"]
    ) -> DecoderState:
        return self.network.encode(source, source_is_token)

    def decode(
        self,
        targets: Int[Tensor, "hypotheses time"],
        is_token: Bool[Tensor, "hypotheses time"],
        decoder_state: DecoderState,
    ) -> tuple[Float[Tensor, "hypotheses time vocab"], DecoderState]:
        is_single = targets.shape[1] == 1 and not torch.is_grad_enabled() and bool(is_token.all())
        is_own = not decoder_state.cache or isinstance(decoder_state.cache[0], StackedCache)
        if (
            not is_single
            or not is_own
            or (source_caches := self._source_caches(decoder_state.source)) is None
        ):
            return self.network.decode(targets, is_token, unstack_cache(decoder_state))
        cache = decoder_state.cache[0].cache if decoder_state.cache else self._empty_cache(len(targets))
        features, cache = self._step(targets, cache, source_caches)
        return self._output(features).unsqueeze(1), decoder_state.with_cache(
            (StackedCache(cache, len(self._layers)),)
        )

    def decode_with_alignment(
        self,
        targets: Int[Tensor, "hypotheses time"],
        is_token: Bool[Tensor, "hypotheses time"],
        decoder_state: DecoderState,
    ) -> tuple[Float[Tensor, "hypotheses time vocab"], DecoderState, Alignment | None]:
        return self.network.decode_with_alignment(targets, is_token, unstack_cache(decoder_state))

    def _step(
        self, targets: Int[Tensor, "hypotheses 1"], cache: KVCache, source_caches: list[SourceCache]
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
        for layer, own, source in zip(self._layers, zip(*parts, strict=True), source_caches, strict=True):
            rows = layer(rows, SelfAttentionCache(*own), source, apply_rotary)
        return self._last_norm(rows), cache

    def _empty_cache(self, hypotheses: int) -> KVCache:
        """Before the first step."""
        layer = self._layers[0]
        empty = self._embedding.new_empty(len(self._layers) * hypotheses, layer.kv_heads, 0, layer.head_size)
        return KVCache.from_tensors(empty, empty)

    def _source_caches(self, source: ModelState) -> list[SourceCache] | None:
        """What the layers have of the sources, put together anew only when some have left; None where one has
        no token to look at.
        """
        if self._source[0] is not source:
            is_token, *caches = source
            bias = (
                None
                if bool(is_token.all())
                else torch.zeros_like(is_token, dtype=self._embedding.dtype).masked_fill(
                    ~is_token, -torch.inf
                )
            )
            source_caches = [
                SourceCache.from_cache(cache, None if bias is None else bias[:, None, None, :])
                for cache in caches
            ]
            self._source = source, source_caches if bool(is_token.any(dim=1).all()) else None
        return self._source[1]


@dataclass(frozen=True)
class StackedCache:
    """Keys and values of all layers in one cache: those of the first layer for every hypothesis, then those
    of the second, and so on.
    """

    cache: KVCache
    num_layers: int

    def __getitem__(self, rows: Int[Tensor, " rows"]) -> StackedCache:
        return StackedCache(self.cache[self._in_every_layer(rows)], self.num_layers)

    def reorder(self, rows: Int[Tensor, " rows"]) -> StackedCache:
        return StackedCache(self.cache.reorder(self._in_every_layer(rows)), self.num_layers)

    def unstack(self) -> ModelState:
        """As a `TransformerSeq2SeqDecoder` keeps it: which steps were real, then keys and values for every
        layer.
        """
        keys, values = self.cache.keys.chunk(self.num_layers), self.cache.values.chunk(self.num_layers)
        is_token = torch.ones(len(keys[0]), self.cache.length, dtype=torch.bool, device=keys[0].device)
        return (is_token, *(KVCache.from_tensors(*layer) for layer in zip(keys, values, strict=True)))

    def _in_every_layer(self, rows: Int[Tensor, " rows"]) -> Int[Tensor, " all_rows"]:
        starts = torch.arange(
            0, self.cache.num_sequences, self.cache.num_sequences // self.num_layers, device=rows.device
        )
        return (starts.unsqueeze(1) + rows).flatten()


def unstack_cache(decoder_state: DecoderState) -> DecoderState:
    """A writing as the network itself knows it."""
    return (
        decoder_state.with_cache(decoder_state.cache[0].unstack())
        if decoder_state.cache and isinstance(decoder_state.cache[0], StackedCache)
        else decoder_state
    )


def _is_observed(module: nn.Module) -> bool:
    has_hooks = bool(module._forward_hooks or module._forward_pre_hooks)  # noqa: SLF001  # torch offers no other way to ask
    return has_hooks or (isinstance(module, RecordableAttention) and module.alignment_hook is not None)
