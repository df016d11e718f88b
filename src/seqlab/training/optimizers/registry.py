"""The registry of optimizers. Does not import torch, so recipes and lists know the names without it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from seqlab.core.part_name import PartName
from seqlab.core.registry import Registry

if TYPE_CHECKING:
    from seqlab.training.optimizers.base import Optimizer

optimizers: Registry[type[Optimizer]] = Registry("optimizer", package="seqlab.training.optimizers")


class OptimizerName(PartName):
    """The name of an optimizer in a recipe."""

    registry = optimizers
