"""The parts of the task multi_label that need torch."""

from __future__ import annotations

from seqlab.tasks.multi_label.calibration import MultiLabelCalibration
from seqlab.tasks.multi_label.codec import MultiLabelCodec
from seqlab.tasks.multi_label.evaluator import MultiLabelEvaluator
from seqlab.tasks.multi_label.network import build_model
from seqlab.tasks.multi_label.objective import MultiLabelObjective
from seqlab.tasks.multi_label.predictor import MultiLabelPredictor
from seqlab.tasks.parts import TaskParts

PARTS = TaskParts(
    codec=MultiLabelCodec,
    build_model=build_model,
    objective=MultiLabelObjective,
    evaluator=MultiLabelEvaluator,
    predictor=MultiLabelPredictor,
    calibration=MultiLabelCalibration,
)
