"""The decoder state of single steps: the keys and values of all layers, laid out for one new token."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from jaxtyping import Bool, Int
from torch import Tensor

from seqlab.attention.kv_cache import KVCache
from seqlab.models.base import ModelState
from seqlab.models.decoders.base import DecoderState
from seqlab.models.single_step.layer import SourceCache


@dataclass(frozen=True)
class PackedSource:
    """Keys and values of the sources for every layer, packed once and again only when sources finish."""

    is_token: Bool[Tensor, "sources source"]
    layers: tuple[SourceCache, ...]
    can_step: bool
    """Whether every source has a token to attend to."""

    @classmethod
    def pack(cls, source: ModelState) -> PackedSource:
        """source: which steps are real, then keys and values for every layer."""
        is_token, *caches = source
        bias = None
        if not bool(is_token.all()):
            zeros = torch.zeros_like(is_token, dtype=caches[0].keys.dtype)
            bias = zeros.masked_fill(~is_token, -torch.inf)[:, None, None, :]
        layers = tuple(SourceCache.from_cache(cache, bias) for cache in caches)
        return cls(is_token, layers, bool(is_token.any(dim=1).all()))

    def unpack(self) -> ModelState:
        """The source in the format of `TransformerSeq2SeqDecoder`."""
        return (self.is_token, *(KVCache.from_tensors(layer.keys, layer.values) for layer in self.layers))

    def __getitem__(self, rows: Int[Tensor, " rows"]) -> PackedSource:
        return self.pack(tuple(part[rows] for part in self.unpack()))


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
        """The cache in the format of `TransformerSeq2SeqDecoder`: which steps were real, then keys and
        values for every layer.
        """
        keys, values = self.cache.keys.chunk(self.num_layers), self.cache.values.chunk(self.num_layers)
        is_token = torch.ones(len(keys[0]), self.cache.length, dtype=torch.bool, device=keys[0].device)
        return (is_token, *(KVCache.from_tensors(*layer) for layer in zip(keys, values, strict=True)))

    def _in_every_layer(self, rows: Int[Tensor, " rows"]) -> Int[Tensor, " all_rows"]:
        starts = torch.arange(
            0, self.cache.num_sequences, self.cache.num_sequences // self.num_layers, device=rows.device
        )
        return (starts.unsqueeze(1) + rows).flatten()


def to_network_state(state: DecoderState) -> DecoderState:
    """The decoder state in the format of the network itself."""
    source, cache = state.source, state.cache
    return DecoderState(
        source[0].unpack() if source and isinstance(source[0], PackedSource) else source,
        cache[0].unstack() if cache and isinstance(cache[0], StackedCache) else cache,
    )
