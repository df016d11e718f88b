"""The parts of a masked language model."""

from __future__ import annotations

from seqlab.tasks.masked_language_model.codec import MaskedLanguageModelCodec
from seqlab.tasks.masked_language_model.evaluator import MaskedLanguageModelEvaluator
from seqlab.tasks.masked_language_model.network import build_model
from seqlab.tasks.masked_language_model.objective import MaskedLanguageModelObjective
from seqlab.tasks.masked_language_model.predictor import MaskedLanguageModelPredictor
from seqlab.tasks.parts import TaskParts

PARTS = TaskParts(
    codec=MaskedLanguageModelCodec,
    build_model=build_model,
    objective=MaskedLanguageModelObjective,
    evaluator=MaskedLanguageModelEvaluator,
    predictor=MaskedLanguageModelPredictor,
)
