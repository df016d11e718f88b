"""The parts of the task tagging that need torch."""

from __future__ import annotations

from seqlab.tasks.parts import TaskParts
from seqlab.tasks.tagging.codec import TaggingCodec
from seqlab.tasks.tagging.evaluator import TaggingEvaluator
from seqlab.tasks.tagging.network import build_model
from seqlab.tasks.tagging.objective import TaggingObjective
from seqlab.tasks.tagging.predictor import TaggingPredictor

PARTS = TaskParts(
    codec=TaggingCodec,
    build_model=build_model,
    objective=TaggingObjective,
    evaluator=TaggingEvaluator,
    predictor=TaggingPredictor,
)
