"""Small encoder-decoders over sentence pairs: how they are built, and their loss."""

from __future__ import annotations

from jaxtyping import Float
from torch import Tensor
from torch.nn import functional as F

from seqlab.models.decoders.settings import DecoderSettings
from seqlab.models.encoder_decoder import EncoderDecoder, build_encoder_decoder
from seqlab.models.settings.section import SequenceSettings
from seqlab.studies.kit.small_pairs import PAD, SmallPairs, SourceIds, TargetIds


def small_translator(
    pairs: SmallPairs, encoder: SequenceSettings, decoder: DecoderSettings
) -> EncoderDecoder:
    """An encoder-decoder with the vocabularies of these pairs."""
    return build_encoder_decoder(
        encoder,
        decoder,
        num_source_tokens=pairs.num_source_words,
        num_target_tokens=pairs.num_target_words,
        source_pad_id=PAD,
        target_pad_id=PAD,
    )


def translation_nats(model: EncoderDecoder, source: SourceIds, target: TargetIds) -> Float[Tensor, ""]:
    """Loss per word of the target, including its end token."""
    logits = model(source, source != PAD, target[:, :-1], target[:, :-1] != PAD)  # (batch, time, words)
    return F.cross_entropy(logits.flatten(0, 1), target[:, 1:].flatten(), ignore_index=PAD)
