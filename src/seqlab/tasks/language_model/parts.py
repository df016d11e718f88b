"""The parts of the task language_model that need torch, and how its network is built."""

from __future__ import annotations

from seqlab.blocks.embedding import TokenEmbedding
from seqlab.models.base import backbones
from seqlab.models.language_model import LanguageModel
from seqlab.models.settings.section import require_sequence_settings
from seqlab.tasks.language_model.codec import LanguageModelCodec
from seqlab.tasks.language_model.context_policy import ContextPolicy
from seqlab.tasks.language_model.evaluator import LanguageModelEvaluator
from seqlab.tasks.language_model.objective import LanguageModelObjective
from seqlab.tasks.language_model.predictor import LanguageModelPredictor
from seqlab.tasks.parts import TaskParts


def build_model(codec: LanguageModelCodec) -> LanguageModel:
    """Build a causal backbone whose output layer shares the embedding if the sizes match."""
    settings = require_sequence_settings(codec.recipe.model)
    backbone = backbones.get(settings.kind).from_settings(settings, causal=True)
    tied = settings.tied and backbone.input_size == backbone.output_size
    embed = TokenEmbedding(
        codec.vocabulary_size,
        backbone.input_size,
        pad_id=None,
        std=backbone.input_size**-0.5 if tied else 1.0,
    )
    resets = ContextPolicy.from_recipe(codec.recipe).resets_at_documents
    return LanguageModel(
        embed,
        backbone,
        dropout=settings.dropout,
        tied=tied,
        start_id=codec.end_id if resets else None,
    )


PARTS = TaskParts(
    codec=LanguageModelCodec,
    build_model=build_model,
    objective=LanguageModelObjective,
    evaluator=LanguageModelEvaluator,
    predictor=LanguageModelPredictor,
)
