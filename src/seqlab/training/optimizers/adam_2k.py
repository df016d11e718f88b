"""Adam-2k: Adam that only measures the size of the gradients at first, and moves when it is known."""

from __future__ import annotations

import math
from typing import Self

from torch import Tensor

from seqlab.training.optimizers.adam_moments import BETA1, BETA2, EPSILON, TwoMeans
from seqlab.training.optimizers.base import Memory, gradient_of, update_rules
from seqlab.training.settings import TrainingSettings


@update_rules.register("adam_2k")
class Adam2k(TwoMeans):
    """The first updates, 2,000 in the paper, change nothing but `second`; from then on it is AdamW.

        second <- β₂ second + (1 - β₂) g²                   in every update t
        first  <- β₁ first  + (1 - β₁) g                    only where t > measured, and then
        w      <- w - rate · decay · w - rate · first/(1 - β₁ᵗ) / (√(second/(1 - β₂ᵗ)) + ε)

    An experiment, to tell two explanations of warm-up apart: weights and momentum stand still, so if training goes well afterwards
    without a warm-up, it was the poor knowledge of `second` that made the first steps bad.
    Paper: Liu et al. 2020, "On the Variance of the Adaptive Learning Rate and Beyond", arXiv:1908.03265, section 3.1.
    """

    def __init__(self, *, measured: int) -> None:
        """measured: updates in which nothing moves."""
        self.measured = measured

    @classmethod
    def build(cls, settings: TrainingSettings) -> Self:
        return cls(measured=settings.measured_steps)

    def move(self, parameter: Tensor, memory: Memory, count: int, *, rate: float, decay: float) -> None:
        if count > self.measured:
            first = memory["first"].lerp_(gradient_of(parameter), 1 - BETA1)
            size = memory["second"].sqrt().div_(math.sqrt(1 - BETA2**count)).add_(EPSILON)
            parameter.mul_(1 - rate * decay).addcdiv_(first, size, value=-rate / (1 - BETA1**count))
