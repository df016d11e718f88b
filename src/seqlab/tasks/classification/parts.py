"""The parts of the task classification that need torch."""

from __future__ import annotations

from seqlab.tasks.classification.calibration import ClassificationCalibration
from seqlab.tasks.classification.codec import ClassificationCodec
from seqlab.tasks.classification.evaluator import ClassificationEvaluator
from seqlab.tasks.classification.network import build_model
from seqlab.tasks.classification.objective import ClassificationObjective
from seqlab.tasks.classification.predictor import ClassificationPredictor
from seqlab.tasks.parts import TaskParts

PARTS = TaskParts(
    codec=ClassificationCodec,
    build_model=build_model,
    objective=ClassificationObjective,
    evaluator=ClassificationEvaluator,
    predictor=ClassificationPredictor,
    calibration=ClassificationCalibration,
)
