"""The parts of captioning."""

from __future__ import annotations

from seqlab.tasks.captioning.codec import CaptioningCodec
from seqlab.tasks.captioning.evaluator import CaptioningEvaluator
from seqlab.tasks.captioning.network import build_model
from seqlab.tasks.captioning.objective import CaptioningObjective
from seqlab.tasks.captioning.predictor import CaptioningPredictor
from seqlab.tasks.parts import TaskParts

PARTS = TaskParts(
    codec=CaptioningCodec,
    build_model=build_model,
    objective=CaptioningObjective,
    evaluator=CaptioningEvaluator,
    predictor=CaptioningPredictor,
)
