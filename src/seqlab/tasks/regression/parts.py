"""The parts of the task regression that need torch."""

from __future__ import annotations

from seqlab.tasks.parts import TaskParts
from seqlab.tasks.regression.calibration import RegressionCalibration
from seqlab.tasks.regression.codec import RegressionCodec
from seqlab.tasks.regression.evaluator import RegressionEvaluator
from seqlab.tasks.regression.network import build_model
from seqlab.tasks.regression.objective import RegressionObjective
from seqlab.tasks.regression.predictor import RegressionPredictor

PARTS = TaskParts(
    codec=RegressionCodec,
    build_model=build_model,
    objective=RegressionObjective,
    evaluator=RegressionEvaluator,
    predictor=RegressionPredictor,
    calibration=RegressionCalibration,
)
