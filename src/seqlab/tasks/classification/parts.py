"""The parts of the task classification that need torch, and how its network is built."""

from __future__ import annotations

from torch import nn

from seqlab.tasks.classification.calibration import ClassificationCalibration
from seqlab.tasks.classification.codec import ClassificationCodec
from seqlab.tasks.classification.evaluator import ClassificationEvaluator
from seqlab.tasks.classification.objective import ClassificationObjective
from seqlab.tasks.classification.predictor import ClassificationPredictor
from seqlab.tasks.labeled.whole_sequence import build_sequence_network
from seqlab.tasks.parts import TaskParts


def build_model(codec: ClassificationCodec) -> nn.Module:
    """Build a network with one logit per class."""
    return build_sequence_network(codec, is_exclusive=True)


PARTS = TaskParts(
    codec=ClassificationCodec,
    build_model=build_model,
    objective=ClassificationObjective,
    evaluator=ClassificationEvaluator,
    predictor=ClassificationPredictor,
    calibration=ClassificationCalibration,
)
