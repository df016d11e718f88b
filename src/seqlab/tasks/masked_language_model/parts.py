"""The parts of the task masked_language_model that need torch, and how its network is built."""

from __future__ import annotations

from seqlab.blocks.embedding import TokenEmbedding
from seqlab.models.base import backbones
from seqlab.models.masked_language_model import NORM_EPS, MaskedLanguageModel
from seqlab.models.settings.section import require_sequence_settings
from seqlab.tasks.masked_language_model.codec import MaskedLanguageModelCodec
from seqlab.tasks.masked_language_model.evaluator import MaskedLanguageModelEvaluator
from seqlab.tasks.masked_language_model.objective import MaskedLanguageModelObjective
from seqlab.tasks.masked_language_model.predictor import MaskedLanguageModelPredictor
from seqlab.tasks.parts import TaskParts


def build_model(codec: MaskedLanguageModelCodec) -> MaskedLanguageModel:
    """Build a bidirectional backbone, and a head that predicts masked tokens."""
    settings = require_sequence_settings(codec.recipe.model)
    backbone = backbones.get(settings.kind).from_settings(settings, causal=False)
    embed = TokenEmbedding(
        codec.vocabulary_size,
        backbone.input_size,
        pad_id=None,
        std=backbone.input_size**-0.5 if settings.tied else 1.0,
    )
    norm_eps = getattr(
        settings, "embedding_norm_eps", NORM_EPS
    )  # the same for the norm after the embedding and the one in the head
    return MaskedLanguageModel(
        embed, backbone, dropout=settings.dropout, tied=settings.tied, norm_eps=norm_eps
    )


PARTS = TaskParts(
    codec=MaskedLanguageModelCodec,
    build_model=build_model,
    objective=MaskedLanguageModelObjective,
    evaluator=MaskedLanguageModelEvaluator,
    predictor=MaskedLanguageModelPredictor,
)
