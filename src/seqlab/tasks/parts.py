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
    """The result of `TaskSpec.load_parts`: one class per part, and a function that builds the network."""

    codec: type[Codec]
    build_model: Callable[[Any], nn.Module]
    """Builds a new network from a codec."""
    objective: type[Objective[Any, Any]]
    evaluator: type[Evaluator[Any, Any, Any]]
    predictor: type[Predictor[Any, Any]]
    calibration: type[Calibration] = Calibration
