"""The parts of the task captioning that need torch, and how its network is built."""

from __future__ import annotations

from seqlab.models.encoder_decoder import EncoderDecoder
from seqlab.models.images.encoder import build_image_encoder_decoder
from seqlab.tasks.captioning.codec import CaptioningCodec
from seqlab.tasks.captioning.defaults import require_image_settings
from seqlab.tasks.captioning.evaluator import CaptioningEvaluator
from seqlab.tasks.captioning.objective import CaptioningObjective
from seqlab.tasks.captioning.predictor import CaptioningPredictor
from seqlab.tasks.parts import TaskParts


def build_model(codec: CaptioningCodec) -> EncoderDecoder:
    vocabulary, inputs = codec.tokens.target.vocabulary, codec.inputs
    return build_image_encoder_decoder(
        require_image_settings(codec.recipe.model),
        codec.recipe.decoder,
        num_features=inputs.width * inputs.channels,
        num_target_tokens=len(vocabulary),
        target_pad_id=vocabulary.pad_id,
    )


PARTS = TaskParts(
    codec=CaptioningCodec,
    build_model=build_model,
    objective=CaptioningObjective,
    evaluator=CaptioningEvaluator,
    predictor=CaptioningPredictor,
)
