"""An encoder-decoder (sequence-to-sequence) network."""

from __future__ import annotations

from typing import NamedTuple

import torch
from jaxtyping import Bool, Float, Int, Shaped
from torch import Tensor, nn
from torch.nn import functional as F

from seqlab.blocks.embedding import TokenEmbedding
from seqlab.core.errors import ArgumentError
from seqlab.losses.base import LossValue
from seqlab.losses.token_loss import TokenLoss
from seqlab.models.base import Encoder, backbones
from seqlab.models.decoders.base import Alignment, Decoder, DecoderState
from seqlab.models.decoders.build import build_decoder
from seqlab.models.decoders.settings import DecoderSettings
from seqlab.models.decoders.transformer import TransformerSeq2SeqDecoder
from seqlab.models.settings.section import SequenceSettings


class EncoderDecoder(nn.Module):
    """logits_t = W decoder(embed(targets up to t), encoder(embed(source)))_t + b.

    If tied, W is the embedding table of the target. Both embeddings may be the same layer. Paper: Vaswani et
    al. 2017, "Attention Is All You Need", arXiv:1706.03762, section 3; tied: section 3.4.

    The encoder reads the whole source, so it need not be causal. Any backbone works, and so does an image
    network, whose regions are then the steps of the source.
    """

    def __init__(
        self,
        embed_source: nn.Module,
        encoder: Encoder,
        embed_target: TokenEmbedding,
        decoder: Decoder,
        *,
        tied: bool,
    ) -> None:
        super().__init__()
        num_tokens, width = embed_target.weight.shape
        if tied and width != decoder.output_size:
            raise ArgumentError(
                "tied",
                tied,
                f"an output layer of width {decoder.output_size} cannot share weights with an embedding"
                f" of width {width}.",
                cure="Make both widths equal, or use tied=false.",
            )
        self.embed_source = embed_source
        self.encoder = encoder
        self.embed_target = embed_target
        self.decoder = decoder
        self.weight = (
            None
            if tied
            else nn.Parameter(torch.randn(num_tokens, decoder.output_size) * decoder.output_size**-0.5)
        )
        self.bias = nn.Parameter(torch.zeros(num_tokens))

    def forward(
        self,
        source: Shaped[Tensor, "batch source *features"],
        source_is_token: Bool[Tensor, "batch source"],
        targets: Int[Tensor, "batch target"],
        target_is_token: Bool[Tensor, "batch target"],
        *,
        is_predicted: Bool[Tensor, "batch target"] | None = None,
        loss: TokenLoss | None = None,
    ) -> Float[Tensor, "batch target vocab"] | LossValue:
        """`targets` begin with the start token: logits at t are for the token after targets_t. If a loss is
        given, its value instead.

        is_predicted: where the decoder reads its own prediction instead of the target (scheduled sampling).
        """
        if is_predicted is not None:
            targets = self.with_predictions(source, source_is_token, targets, is_predicted)
        features = self.features(source, source_is_token, targets, target_is_token)
        return self.head(features) if loss is None else loss(features, self.output_weight, self.bias)

    @torch.no_grad()
    def with_predictions(
        self,
        source: Shaped[Tensor, "batch source *features"],
        source_is_token: Bool[Tensor, "batch source"],
        targets: Int[Tensor, "batch target"],
        is_predicted: Bool[Tensor, "batch target"],
    ) -> Int[Tensor, "batch target"]:
        """The decoder's inputs in scheduled sampling: the start token, then at each step the target or, where
        `is_predicted`, the most likely token given the inputs so far.

        No gradient flows through the choice, so all inputs can be computed first, step by step, and then
        decoded at once, by recurrent decoders and Transformers alike. Predictions are made without dropout.
        Paper: Bengio et al. 2015, "Scheduled Sampling for Sequence Prediction with Recurrent Neural
        Networks", arXiv:1506.03099, section 2.4.
        """
        was_training = self.training
        self.eval()
        inputs, decoder_state = targets.clone(), self.encode(source, source_is_token)
        every = torch.ones(len(targets), 1, dtype=torch.bool, device=targets.device)
        for step in range(targets.shape[1] - 1):
            logits, decoder_state = self.decode(inputs[:, step : step + 1], every, decoder_state)
            inputs[:, step + 1] = torch.where(
                is_predicted[:, step + 1], logits[:, -1].argmax(dim=-1), targets[:, step + 1]
            )
        self.train(was_training)
        return inputs

    def features(
        self,
        source: Shaped[Tensor, "batch source *features"],
        source_is_token: Bool[Tensor, "batch source"],
        targets: Int[Tensor, "batch target"],
        target_is_token: Bool[Tensor, "batch target"],
    ) -> Float[Tensor, "batch target output"]:
        """The input of the output layer, so that a loss can compute logits for real steps only."""
        features, _ = self.decoder(
            self.embed_target(targets), target_is_token, self.encode(source, source_is_token)
        )
        return features

    def encode(
        self, source: Shaped[Tensor, "batch source *features"], source_is_token: Bool[Tensor, "batch source"]
    ) -> DecoderState:
        """Encode the source once for all later steps; the state before the first target."""
        features, final_state = self.encoder(self.embed_source(source), source_is_token)
        return self.decoder.init_state(features, self.encoder.feature_mask(source_is_token), final_state)

    def decode(
        self,
        targets: Int[Tensor, "hypotheses time"],
        is_token: Bool[Tensor, "hypotheses time"],
        decoder_state: DecoderState,
    ) -> tuple[Float[Tensor, "hypotheses time vocab"], DecoderState]:
        """Logits after each of the next targets, given the state from `encode` or an earlier call."""
        features, decoder_state = self.decoder(self.embed_target(targets), is_token, decoder_state)
        return self.head(features), decoder_state

    def decode_with_alignment(
        self,
        targets: Int[Tensor, "hypotheses time"],
        is_token: Bool[Tensor, "hypotheses time"],
        decoder_state: DecoderState,
    ) -> tuple[Float[Tensor, "hypotheses time vocab"], DecoderState, Alignment | None]:
        """Like `decode`, with the attention weights over the source; None without attention."""
        features, decoder_state, alignment = self.decoder.forward_with_alignment(
            self.embed_target(targets), is_token, decoder_state
        )
        return self.head(features), decoder_state, alignment

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
    """Build the network from the settings of both sides.

    `shared`: both sides share one vocabulary and one embedding table.
    """
    encoder = backbones.get(model.kind).from_settings(model, causal=False)
    parts = build_decoder_parts(encoder, model, decoder, num_tokens=num_target_tokens, pad_id=target_pad_id)
    if not shared:
        embed_source = _embedding(num_source_tokens, encoder.input_size, pad_id=source_pad_id)
        return EncoderDecoder(embed_source, encoder, parts.embed, parts.decoder, tied=parts.tied)
    if (num_source_tokens, encoder.input_size, source_pad_id) != (
        num_target_tokens,
        parts.decoder.input_size,
        target_pad_id,
    ):
        raise ArgumentError(
            "shared",
            shared,
            f"one embedding table cannot serve {num_source_tokens:,} source tokens of width"
            f" {encoder.input_size} and {num_target_tokens:,} target tokens of width"
            f" {parts.decoder.input_size}.",
            cure="Use the same vocabulary and width for both sides, or give each side its own table.",
            part="decoder",
        )
    return EncoderDecoder(parts.embed, encoder, parts.embed, parts.decoder, tied=parts.tied)


class DecoderParts(NamedTuple):
    """The parts after an encoder."""

    decoder: Decoder
    embed: TokenEmbedding
    tied: bool


def build_decoder_parts(
    encoder: Encoder, model: SequenceSettings, decoder: DecoderSettings, *, num_tokens: int, pad_id: int
) -> DecoderParts:
    """Build the decoder for an encoder of any kind, and the embedding of the target.

    model: the defaults of the decoder's settings. num_tokens, pad_id: of the target.
    """
    built = build_decoder(model, decoder, encoder)
    tied = model.tied and (
        built.output_size == built.input_size or isinstance(built, TransformerSeq2SeqDecoder)
    )
    return DecoderParts(built, _embedding(num_tokens, built.input_size, pad_id=pad_id), tied)


def _embedding(num_tokens: int, size: int, *, pad_id: int) -> TokenEmbedding:
    """Initialize at the scale with which an output layer that shares the table starts with logits near 1."""
    return TokenEmbedding(num_tokens, size, pad_id=pad_id, std=size**-0.5)
