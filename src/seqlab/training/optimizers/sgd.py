"""SGD: down the gradient, with momentum."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

import torch
from torch import Tensor, nn

from seqlab.training.optimizers.base import Memory, UpdateRule, gradient_of, update_rules
from seqlab.training.settings import TrainingSettings


@update_rules.register("sgd")
class SGD(UpdateRule):
    """Gradient descent on batches, with momentum, and weight decay beside the gradient as for the other rules.

        velocity <- momentum · velocity + g
        w        <- w - rate · decay · w - rate · velocity

    Paper: Sutskever et al. 2013, "On the importance of initialization and momentum in deep learning", with the rate outside.
    """

    def __init__(self, *, momentum: float) -> None:
        self.momentum = momentum

    @classmethod
    def build(cls, settings: TrainingSettings) -> Self:
        return cls(momentum=settings.momentum)

    def remember(self, parameter: nn.Parameter) -> Memory:
        return {"velocity": torch.zeros_like(parameter)}

    def update(self, parameters: Sequence[Tensor], memories: Sequence[Memory], *, rate: float, decay: float) -> None:
        for parameter, memory in zip(parameters, memories, strict=True):
            velocity = memory["velocity"].mul_(self.momentum).add_(gradient_of(parameter))
            parameter.mul_(1 - rate * decay).sub_(rate * velocity)
