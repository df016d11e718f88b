"""The parts of a task that need torch, behind one name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from torch import nn

from seqlab.tasks.calibration import Calibration
from seqlab.tasks.codec import Codec
from seqlab.tasks.evaluator import Evaluator
from seqlab.tasks.objective import Objective
from seqlab.tasks.predictor import Predictor


@dataclass(frozen=True)
class TaskParts:
    """What `TaskSpec.load_parts` gives: one class for each part, and how the network is built."""

    codec: type[Codec]
    build_model: Callable[[Any], nn.Module]
    """codec -> a new network for its recipe."""
    objective: type[Objective[Any, Any]]
    evaluator: type[Evaluator[Any, Any, Any]]
    predictor: type[Predictor[Any, Any]]
    calibration: type[Calibration] = Calibration
