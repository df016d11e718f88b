"""A whole network that turns one sequence into another."""

from __future__ import annotations

from typing import NamedTuple

import torch
from jaxtyping import Bool, Float, Int, Shaped
from torch import Tensor, nn
from torch.nn import functional as F

from seqlab.blocks.embedding import TokenEmbedding
from seqlab.core.errors import RecipeError
from seqlab.models.base import Encoder, bodies
from seqlab.models.decoders.base import Alignment, Decoder, Writing
from seqlab.models.decoders.build import build_decoder
from seqlab.models.decoders.transformer import TransformerDecoder
from seqlab.models.settings import DecoderSettings, SequenceSettings


class EncoderDecoder(nn.Module):
    """logits_t = W decoder(embed(targets up to t), encoder(embed(source)))_t + b.

    When tied, W is the table of the target's embedding. Both embeddings may be the same layer.
    Paper: Vaswani et al. 2017, "Attention Is All You Need", arXiv:1706.03762, section 3; tied: section 3.4.

    The encoder reads a whole source, so it must not be causal (but may be); any body will do, and so does a network for pictures, whose
    regions are then what is looked at.
    """

    def __init__(self, embed_source: nn.Module, encoder: Encoder, embed_target: TokenEmbedding, decoder: Decoder, *, tied: bool) -> None:
        super().__init__()
        num_tokens, width = embed_target.weight.shape
        if tied and width != decoder.output_size:
            raise RecipeError(
                f"an output layer of width {decoder.output_size} cannot share an embedding of width {width}.",
                where="model.tied",
                cure="Make both widths equal, or use model.tied=false.",
            )
        self.embed_source = embed_source
        self.encoder = encoder
        self.embed_target = embed_target
        self.decoder = decoder
        self.weight = None if tied else nn.Parameter(torch.randn(num_tokens, decoder.output_size) * decoder.output_size**-0.5)
        self.bias = nn.Parameter(torch.zeros(num_tokens))

    def forward(
        self,
        source: Shaped[Tensor, "batch source *features"],
        source_is_token: Bool[Tensor, "batch source"],
        targets: Int[Tensor, "batch target"],
        target_is_token: Bool[Tensor, "batch target"],
    ) -> Float[Tensor, "batch target vocab"]:
        """`targets` begin with the start token: logits at t are for the token after targets_t."""
        return self.head(self.features(source, source_is_token, targets, target_is_token))

    def features(
        self,
        source: Shaped[Tensor, "batch source *features"],
        source_is_token: Bool[Tensor, "batch source"],
        targets: Int[Tensor, "batch target"],
        target_is_token: Bool[Tensor, "batch target"],
    ) -> Float[Tensor, "batch target output"]:
        """What the output layer reads: a loss that looks at real steps only need not make logits of the others."""
        features, _ = self.decoder(self.embed_target(targets), target_is_token, self.start(source, source_is_token))
        return features

    def start(self, source: Shaped[Tensor, "batch source *features"], source_is_token: Bool[Tensor, "batch source"]) -> Writing:
        """Before the first target: the source, read once for all steps to come."""
        features, ended = self.encoder(self.embed_source(source), source_is_token)
        return self.decoder.start(features, self.encoder.is_feature(source_is_token), ended)

    def decode(
        self, targets: Int[Tensor, "hypotheses time"], is_token: Bool[Tensor, "hypotheses time"], writing: Writing
    ) -> tuple[Float[Tensor, "hypotheses time vocab"], Writing]:
        """Logits after each of the next targets, from what `start` or an earlier call gave."""
        features, writing = self.decoder(self.embed_target(targets), is_token, writing)
        return self.head(features), writing

    def align(
        self, targets: Int[Tensor, "hypotheses time"], is_token: Bool[Tensor, "hypotheses time"], writing: Writing
    ) -> tuple[Float[Tensor, "hypotheses time vocab"], Writing, Alignment | None]:
        """As `decode`, with how much each step of the source was looked at; None without attention."""
        features, writing, alignment = self.decoder.align(self.embed_target(targets), is_token, writing)
        return self.head(features), writing, alignment

    def head(self, features: Float[Tensor, "*steps output"]) -> Float[Tensor, "*steps vocab"]:
        return F.linear(features, self.output_weight, self.bias)

    @property
    def output_weight(self) -> Float[Tensor, "vocab output"]:
        return self.embed_target.weight if self.weight is None else self.weight


def build_encoder_decoder(
    model: SequenceSettings,
    decoder: DecoderSettings,
    *,
    num_source_tokens: int,
    num_target_tokens: int,
    source_pad_id: int,
    target_pad_id: int,
    shared: bool = False,
) -> EncoderDecoder:
    """The network that the settings of both sides describe. `shared`: both sides have one vocabulary and one table."""
    encoder = bodies.get(model.kind).build(model, causal=False)
    side = writing_side(encoder, model, decoder, num_tokens=num_target_tokens, pad_id=target_pad_id)
    if not shared:
        embed_source = _embedding(num_source_tokens, encoder.input_size, pad_id=source_pad_id)
        return EncoderDecoder(embed_source, encoder, side.embed, side.decoder, tied=side.tied)
    if (num_source_tokens, encoder.input_size, source_pad_id) != (num_target_tokens, side.decoder.input_size, target_pad_id):
        raise RecipeError(
            f"one table cannot serve {num_source_tokens:,} source tokens of width {encoder.input_size} and "
            f"{num_target_tokens:,} target tokens of width {side.decoder.input_size}.",
            where="model",
            cure="Use one vocabulary and one width for both sides, or a table for each.",
        )
    return EncoderDecoder(side.embed, encoder, side.embed, side.decoder, tied=side.tied)


class WritingSide(NamedTuple):
    """What stands behind an encoder."""

    decoder: Decoder
    embed: TokenEmbedding
    tied: bool


def writing_side(encoder: Encoder, model: SequenceSettings, decoder: DecoderSettings, *, num_tokens: int, pad_id: int) -> WritingSide:
    """The decoder that the settings describe behind an encoder of any kind, and the embedding of what it writes.

    model: the settings from which the decoder takes what its own leave out.  num_tokens, pad_id: of what is written.
    """
    writing = build_decoder(model, decoder, encoder)
    tied = model.tied and (writing.output_size == writing.input_size or isinstance(writing, TransformerDecoder))
    return WritingSide(writing, _embedding(num_tokens, writing.input_size, pad_id=pad_id), tied)


def _embedding(num_tokens: int, size: int, *, pad_id: int) -> TokenEmbedding:
    """Of the size at which an output layer that shares the table starts with logits near 1."""
    return TokenEmbedding(num_tokens, size, pad_id=pad_id, std=size**-0.5)
