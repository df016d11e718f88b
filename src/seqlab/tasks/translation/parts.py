"""The parts of the task translation that need torch, and how its network is built."""

from __future__ import annotations

from seqlab.models.encoder_decoder import EncoderDecoder, build_encoder_decoder
from seqlab.models.settings.section import require_sequence_settings
from seqlab.tasks.parts import TaskParts
from seqlab.tasks.translation.codec import TranslationCodec
from seqlab.tasks.translation.evaluator import TranslationEvaluator
from seqlab.tasks.translation.objective import TranslationObjective
from seqlab.tasks.translation.predictor import TranslationPredictor


def build_model(codec: TranslationCodec) -> EncoderDecoder:
    source, target = codec.tokens.source.vocabulary, codec.tokens.target.vocabulary
    return build_encoder_decoder(
        require_sequence_settings(codec.recipe.model),
        codec.recipe.decoder,
        num_source_tokens=len(source),
        num_target_tokens=len(target),
        source_pad_id=source.pad_id,
        target_pad_id=target.pad_id,
        shared=codec.tokens.are_shared and codec.recipe.decoder.shared_embedding,
    )


PARTS = TaskParts(
    codec=TranslationCodec,
    build_model=build_model,
    objective=TranslationObjective,
    evaluator=TranslationEvaluator,
    predictor=TranslationPredictor,
)
