"""The parts of the task multi_label that need torch, and how its network is built."""

from __future__ import annotations

from torch import nn

from seqlab.tasks.labeled.whole_sequence import build_sequence_network
from seqlab.tasks.multi_label.calibration import MultiLabelCalibration
from seqlab.tasks.multi_label.codec import MultiLabelCodec
from seqlab.tasks.multi_label.evaluator import MultiLabelEvaluator
from seqlab.tasks.multi_label.objective import MultiLabelObjective
from seqlab.tasks.multi_label.predictor import MultiLabelPredictor
from seqlab.tasks.parts import TaskParts


def build_model(codec: MultiLabelCodec) -> nn.Module:
    """Build a network with one logit and sigmoid per label."""
    return build_sequence_network(codec, is_exclusive=False)


PARTS = TaskParts(
    codec=MultiLabelCodec,
    build_model=build_model,
    objective=MultiLabelObjective,
    evaluator=MultiLabelEvaluator,
    predictor=MultiLabelPredictor,
    calibration=MultiLabelCalibration,
)
