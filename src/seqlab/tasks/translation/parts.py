"""The parts of translation."""

from __future__ import annotations

from seqlab.tasks.parts import TaskParts
from seqlab.tasks.translation.codec import TranslationCodec
from seqlab.tasks.translation.evaluator import TranslationEvaluator
from seqlab.tasks.translation.network import build_model
from seqlab.tasks.translation.objective import TranslationObjective
from seqlab.tasks.translation.predictor import TranslationPredictor

PARTS = TaskParts(
    codec=TranslationCodec,
    build_model=build_model,
    objective=TranslationObjective,
    evaluator=TranslationEvaluator,
    predictor=TranslationPredictor,
)
