"""The parts of the task regression that need torch, and how its network is built."""

from __future__ import annotations

from torch import nn

from seqlab.tasks.labeled.whole_sequence import build_sequence_network
from seqlab.tasks.parts import TaskParts
from seqlab.tasks.regression.calibration import RegressionCalibration
from seqlab.tasks.regression.codec import RegressionCodec
from seqlab.tasks.regression.evaluator import RegressionEvaluator
from seqlab.tasks.regression.objective import RegressionObjective
from seqlab.tasks.regression.predictor import RegressionPredictor


def build_model(codec: RegressionCodec) -> nn.Module:
    """Build a network with one output, the standardized number."""
    return build_sequence_network(codec, is_exclusive=False)


PARTS = TaskParts(
    codec=RegressionCodec,
    build_model=build_model,
    objective=RegressionObjective,
    evaluator=RegressionEvaluator,
    predictor=RegressionPredictor,
    calibration=RegressionCalibration,
)
