"""How gradients become steps of the weights: one file per rule."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Self

from torch import Tensor, nn

from seqlab.core.registry import Registry
from seqlab.training.settings import TrainingSettings

Memory = dict[str, Tensor]
"""What a rule remembers of one parameter, by name."""


class UpdateRule(ABC):
    """One way to update. It has no state of its own: what it remembers of each parameter is given to it."""

    @classmethod
    def build(cls, settings: TrainingSettings) -> Self:
        """The rule with the options of a recipe, where it has any."""
        return cls()

    @abstractmethod
    def remember(self, parameter: nn.Parameter) -> Memory:
        """What is known of a parameter before its first update."""

    @abstractmethod
    def update(self, parameters: Sequence[Tensor], memories: Sequence[Memory], *, rate: float, decay: float) -> None:
        """Move parameters that all have a gradient, and go on remembering."""


update_rules: Registry[type[UpdateRule]] = Registry("optimizer", package="seqlab.training")


def gradient_of(parameter: Tensor) -> Tensor:
    assert parameter.grad is not None
    return parameter.grad
