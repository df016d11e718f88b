"""An encoder-decoder made ready for a search, which asks for one new token of every hypothesis after the other."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import torch
from jaxtyping import Bool, Float, Int, Shaped
from torch import Tensor, nn
from torch.nn import functional as F

from seqlab.attention.kv_cache import Past
from seqlab.attention.recording import Watched
from seqlab.blocks.transformer_layer import DecoderLayer
from seqlab.models.base import State
from seqlab.models.decoders.base import Alignment, Writing
from seqlab.models.decoders.transformer import TransformerDecoder
from seqlab.models.encoder_decoder import EncoderDecoder
from seqlab.models.single_step.layer import Read, Rows, SingleStepLayer, Written, norm_of
from seqlab.models.single_step.product import Product
from seqlab.positions.learned import LearnedPositions
from seqlab.positions.none import NoPositions
from seqlab.positions.rotary import RotaryPositions
from seqlab.positions.sinusoidal import SinusoidalPositions

POSITIONS = (LearnedPositions, NoPositions, RotaryPositions, SinusoidalPositions)
"""Those that add nothing to the scores."""


class SingleStep:
    """The translator that a network with a Transformer decoder is, with the same logits to rounding, in half of the calls.

    * A real token behind real tokens sees them all: no mask is made, and no place but its own is looked up.
    * Keys and values of all layers are one `Past`, one layer behind the other: a search moves its hypotheses once, not layer by layer.
    * Matrices lie in memory as a product with few rows reads them, and are used without the modules around them. They are copies: when
      the network has learned on, a new one must be made.

    Several tokens at once, padding, gradients and alignments are left to the network itself, which goes on from where a step ended.
    """

    def __init__(self, network: EncoderDecoder) -> None:
        assert self.knows(network)
        assert isinstance(network.decoder, TransformerDecoder)
        self.network = network
        self._decoder = network.decoder
        self._layers = [SingleStepLayer(layer) for layer in network.decoder.layers if isinstance(layer, DecoderLayer)]
        self._last_norm = norm_of(network.decoder.last_norm)
        self._embedding = network.embed_target.weight.detach()
        self._output = Product(network.output_weight, network.bias)
        self._source: tuple[State, list[Read] | None] = (), None

    @staticmethod
    def knows(network: object) -> bool:
        """Whether every part of a network is known here, and nobody looks into it."""
        if type(network) is not EncoderDecoder or type(network.decoder) is not TransformerDecoder or network.training:
            return False
        decoder = network.decoder
        return (
            type(decoder.positions) in POSITIONS
            and not decoder.window
            and all(SingleStepLayer.knows(layer) for layer in decoder.layers)
            and not any(_is_watched(module) for module in network.modules())
            and network.bias.device.type == "cpu"  # nothing was measured elsewhere
        )

    def start(self, source: Shaped[Tensor, "batch source *features"], source_is_token: Bool[Tensor, "batch source"]) -> Writing:
        return self.network.start(source, source_is_token)

    def decode(
        self, targets: Int[Tensor, "hypotheses time"], is_token: Bool[Tensor, "hypotheses time"], writing: Writing
    ) -> tuple[Float[Tensor, "hypotheses time vocab"], Writing]:
        is_single = targets.shape[1] == 1 and not torch.is_grad_enabled() and bool(is_token.all())
        is_own = not writing.past or isinstance(writing.past[0], AllLayers)
        if not is_single or not is_own or (read := self._read(writing.source)) is None:
            return self.network.decode(targets, is_token, by_layers(writing))
        past = writing.past[0].past if writing.past else self._nothing(len(targets))
        features, past = self._step(targets, past, read)
        return self._output(features).unsqueeze(1), writing.after((AllLayers(past, len(self._layers)),))

    def align(
        self, targets: Int[Tensor, "hypotheses time"], is_token: Bool[Tensor, "hypotheses time"], writing: Writing
    ) -> tuple[Float[Tensor, "hypotheses time vocab"], Writing, Alignment | None]:
        return self.network.align(targets, is_token, by_layers(writing))

    def _step(self, targets: Int[Tensor, "hypotheses 1"], past: Past, read: list[Read]) -> tuple[Rows, Past]:
        """Features of the newest step; what the layers write of it stands behind what they wrote before."""
        decoder, place = self._decoder, torch.tensor([[past.length]])
        steps = F.embedding(targets, self._embedding)
        steps = steps if decoder.scale == 1.0 else steps * decoder.scale
        rows = decoder.first_norm(decoder.positions.add(steps, place)).squeeze(1)
        turn = partial(decoder.positions.turn, places=place) if decoder.positions.turns else None
        past = past.grown(1)
        keys, values = past.keys, past.values
        parts = (part.chunk(len(self._layers)) for part in (keys, values, keys[:, :, -1:], values[:, :, -1:]))
        for layer, own, source in zip(self._layers, zip(*parts, strict=True), read, strict=True):
            rows = layer(rows, Written(*own), source, turn)
        return self._last_norm(rows), past

    def _nothing(self, hypotheses: int) -> Past:
        """Before the first step."""
        layer = self._layers[0]
        empty = self._embedding.new_empty(len(self._layers) * hypotheses, layer.kv_heads, 0, layer.head_size)
        return Past.of(empty, empty)

    def _read(self, source: State) -> list[Read] | None:
        """What the layers have of the sources, put together anew only when some have left; None where one has no token to look at."""
        if self._source[0] is not source:
            is_token, *pasts = source
            bias = None if bool(is_token.all()) else torch.zeros_like(is_token, dtype=self._embedding.dtype).masked_fill(~is_token, -torch.inf)
            read = [Read.of(past, None if bias is None else bias[:, None, None, :]) for past in pasts]
            self._source = source, read if bool(is_token.any(dim=1).all()) else None
        return self._source[1]


@dataclass(frozen=True)
class AllLayers:
    """Keys and values of all layers in one past: those of the first layer for every hypothesis, then those of the second, and so on."""

    past: Past
    num_layers: int

    def __getitem__(self, rows: Int[Tensor, " rows"]) -> AllLayers:
        return AllLayers(self.past[self._in_every_layer(rows)], self.num_layers)

    def moved(self, rows: Int[Tensor, " rows"]) -> AllLayers:
        return AllLayers(self.past.moved(self._in_every_layer(rows)), self.num_layers)

    def apart(self) -> State:
        """As a `TransformerDecoder` keeps it: which steps were real, then keys and values for every layer."""
        keys, values = self.past.keys.chunk(self.num_layers), self.past.values.chunk(self.num_layers)
        known = torch.ones(len(keys[0]), self.past.length, dtype=torch.bool, device=keys[0].device)
        return (known, *(Past.of(*layer) for layer in zip(keys, values, strict=True)))

    def _in_every_layer(self, rows: Int[Tensor, " rows"]) -> Int[Tensor, " all_rows"]:
        starts = torch.arange(0, self.past.num_sequences, self.past.num_sequences // self.num_layers, device=rows.device)
        return (starts.unsqueeze(1) + rows).flatten()


def by_layers(writing: Writing) -> Writing:
    """A writing as the network itself knows it."""
    return writing.after(writing.past[0].apart()) if writing.past and isinstance(writing.past[0], AllLayers) else writing


def _is_watched(module: nn.Module) -> bool:
    has_hooks = bool(module._forward_hooks or module._forward_pre_hooks)  # noqa: SLF001  # torch offers no other way to ask
    return has_hooks or (isinstance(module, Watched) and module.watch is not None)
