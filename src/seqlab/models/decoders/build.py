"""Build a decoder from its settings and its encoder."""

from __future__ import annotations

from torch import nn

from seqlab.attention.attend import Attention
from seqlab.attention.base import score_functions
from seqlab.attention.local import MonotonicWindow, PredictedWindow, Window
from seqlab.attention.normalization import HardmaxNormalizer, SoftmaxNormalizer
from seqlab.blocks.attention_step import InputFeeding, OutputAttention
from seqlab.blocks.bridge import Bridge, IdentityBridge, LearnedBridge, MeanBridge, NoBridge
from seqlab.blocks.recurrent import RecurrentStack
from seqlab.cells.settings import named_cell
from seqlab.core.errors import ArgumentError, UsageError
from seqlab.core.settings import Settings
from seqlab.models.base import Encoder
from seqlab.models.decoders.base import Decoder
from seqlab.models.decoders.recurrent import (
    AttentiveDecoder,
    ConstantContextDecoder,
    FixedContextDecoder,
    InputFeedingDecoder,
)
from seqlab.models.decoders.settings import DecoderSettings
from seqlab.models.decoders.transformer import TransformerSeq2SeqDecoder
from seqlab.models.recurrent import RecurrentBackbone, build_recurrent_stack
from seqlab.models.settings.recurrent import RecurrentSettings
from seqlab.models.settings.section import SequenceSettings
from seqlab.models.settings.transformer import TransformerSettings

DEFAULT_HEADS = 4
"""Number of heads of a Transformer decoder whose encoder has none; fewer if this does not divide its width."""


def build_decoder(model: SequenceSettings, decoder: DecoderSettings, encoder: Encoder) -> Decoder:
    """model: the settings of the encoder, which are the defaults of the decoder's settings."""
    kind = decoder.kind or ("transformer" if isinstance(model, TransformerSettings) else "recurrent")
    if kind == "transformer":
        return TransformerSeq2SeqDecoder.from_settings(
            transformer_settings(model, decoder), source_size=encoder.output_size
        )
    return build_recurrent_decoder(recurrent_settings(model, decoder), decoder, encoder)


def transformer_settings(model: SequenceSettings, decoder: DecoderSettings) -> TransformerSettings:
    """The settings of a Transformer decoder: the encoder's settings, overridden by the decoder's."""
    if isinstance(model, TransformerSettings):
        overrides = {
            name: value for name in ("layers", "hidden_size", "heads") if (value := getattr(decoder, name))
        }
        settings = model.model_copy(update=overrides)
    else:
        sizes = layer_sizes(model)
        width = decoder.hidden_size or sizes[-1]
        heads = decoder.heads or max(heads for heads in range(1, DEFAULT_HEADS + 1) if width % heads == 0)
        settings = TransformerSettings(
            layers=decoder.layers or len(sizes), hidden_size=width, heads=heads, dropout=model.dropout
        )
    if not settings.head_size and settings.hidden_size % settings.heads:
        fitting = [
            str(heads) for heads in range(1, 2 * settings.heads + 1) if settings.hidden_size % heads == 0
        ]
        raise ArgumentError(
            "num_heads",
            settings.heads,
            f"a decoder of width {settings.hidden_size} cannot be split evenly into {settings.heads} heads.",
            allowed=", ".join(fitting),
            part="decoder",
        )
    return settings


def recurrent_settings(model: SequenceSettings, decoder: DecoderSettings) -> RecurrentSettings:
    """The settings of a recurrent decoder: those of a unidirectional encoder, overridden by the decoder's."""
    plain = RecurrentSettings(hidden_sizes=layer_sizes(model), dropout=model.dropout)
    recurrent = model if isinstance(model, RecurrentSettings) else plain
    cell: Settings = recurrent.cell
    if decoder.cell and decoder.cell != recurrent.cell.kind:
        cell = named_cell(decoder.cell)
    sizes = layer_sizes(recurrent)
    if decoder.layers or decoder.hidden_size:
        sizes = (decoder.hidden_size or sizes[-1],) * (decoder.layers or len(sizes))
    return recurrent.model_copy(
        update={"bidirectional": False, "cell": cell, "hidden_sizes": sizes, "initial_state": "zeros"}
    )


def layer_sizes(model: SequenceSettings) -> tuple[int, ...]:
    """The width of every layer of a network."""
    widths = model.hidden_sizes if isinstance(model, RecurrentSettings) else ()
    return widths or (model.hidden_size,) * getattr(model, "layers", 1)


def build_recurrent_decoder(
    settings: RecurrentSettings, decoder: DecoderSettings, encoder: Encoder
) -> Decoder:
    sizes = layer_sizes(settings)
    input_size = settings.embedding_size or sizes[0]
    if decoder.attention == "none":
        stack = build_recurrent_stack(settings, input_size=input_size)
        return FixedContextDecoder(
            stack, build_bridge(decoder, stack, encoder), input_size=input_size, dropout=settings.dropout
        )
    if decoder.attention == "constant":
        stack, summary = (
            build_recurrent_stack(settings, input_size=input_size + sizes[-1]),
            build_summary(decoder, encoder, size=sizes[-1]),
        )
        return ConstantContextDecoder(
            stack,
            build_bridge(decoder, stack, encoder),
            summary,
            input_size=input_size,
            dropout=settings.dropout,
        )
    if decoder.context == "output":
        stack = build_recurrent_stack(settings, input_size=input_size)
        attention, value_size = build_attention(
            decoder, query_size=stack.output_size, source_size=encoder.output_size
        )
        attention_step = OutputAttention(attention, value_size=value_size)
        return AttentiveDecoder(
            stack,
            build_bridge(decoder, stack, encoder),
            attention_step,
            input_size=input_size,
            dropout=settings.dropout,
        )
    stack = build_recurrent_stack(settings, input_size=input_size + sizes[-1])
    attention, value_size = build_attention(
        decoder, query_size=stack.output_size, source_size=encoder.output_size
    )
    input_feeding = InputFeeding(attention, value_size=value_size, output_size=sizes[-1])
    return InputFeedingDecoder(
        stack,
        build_bridge(decoder, stack, encoder),
        input_feeding,
        input_size=input_size,
        dropout=settings.dropout,
    )


def build_attention(decoder: DecoderSettings, *, query_size: int, source_size: int) -> tuple[Attention, int]:
    """The attention, and the width of its context."""
    key_size = query_size if decoder.projected else source_size
    try:
        score = score_functions.get(decoder.attention)(query_size, key_size)
    except UsageError as error:
        raise ArgumentError(
            "attention",
            decoder.attention,
            error.what,
            cure=f"{error.cure} Or set projected=true to project them.",
            part="decoder",
        ) from error
    windows: dict[str, Window | None] = {
        "none": None,
        "monotonic": MonotonicWindow(reach=decoder.reach),
        "predicted": PredictedWindow(query_size, reach=decoder.reach),
    }
    key, value = (
        nn.Linear(source_size, key_size, bias=False) if decoder.projected else None for _ in range(2)
    )
    normalizer = HardmaxNormalizer() if decoder.alignment == "hard" else SoftmaxNormalizer()
    return Attention(
        score, normalizer=normalizer, key=key, value=value, window=windows[decoder.window]
    ), key_size


def build_bridge(decoder: DecoderSettings, stack: RecurrentStack, encoder: Encoder) -> Bridge:
    """The bridge that fits: a copy of the encoder's state if possible, otherwise a learned projection of
    it, or of the mean of the features if the encoder has no state or if requested.
    """
    sizes = stack.state_sizes
    if decoder.bridge == "none":
        return NoBridge(sizes)
    if decoder.bridge == "identity" and not isinstance(encoder, RecurrentBackbone):
        raise ArgumentError(
            "bridge",
            decoder.bridge,
            "only a recurrent encoder has a final state to pass to the decoder.",
            allowed="learned, mean, none",
            part="decoder",
        )
    if decoder.bridge == "mean" or not isinstance(encoder, RecurrentBackbone):
        return MeanBridge(sizes, feature_size=encoder.output_size)
    encoder_sizes = encoder.stack.state_sizes
    if decoder.bridge == "learned" or (not decoder.bridge and encoder_sizes != sizes):
        return LearnedBridge(sizes, encoder_sizes=encoder_sizes)
    try:
        return IdentityBridge(sizes, encoder_sizes=encoder_sizes)
    except UsageError as error:
        raise ArgumentError("bridge", decoder.bridge, error.what, cure=error.cure, part="decoder") from error


def build_summary(decoder: DecoderSettings, encoder: Encoder, *, size: int) -> Bridge:
    """The whole source as one vector: from the encoder's final state, or from the mean of its features if
    it has no state or if requested.
    """
    if decoder.bridge == "mean" or not isinstance(encoder, RecurrentBackbone):
        return MeanBridge([size], feature_size=encoder.output_size)
    return LearnedBridge([size], encoder_sizes=encoder.stack.state_sizes)
