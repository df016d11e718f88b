"""The parts of a language model."""

from __future__ import annotations

from seqlab.tasks.language_model.codec import LanguageModelCodec
from seqlab.tasks.language_model.evaluator import LanguageModelEvaluator
from seqlab.tasks.language_model.network import build_model
from seqlab.tasks.language_model.objective import LanguageModelObjective
from seqlab.tasks.language_model.predictor import LanguageModelPredictor
from seqlab.tasks.parts import TaskParts

PARTS = TaskParts(
    codec=LanguageModelCodec,
    build_model=build_model,
    objective=LanguageModelObjective,
    evaluator=LanguageModelEvaluator,
    predictor=LanguageModelPredictor,
)
