"""Adam-2k: Adam that first only estimates the second moment of the gradients, then starts to update the
weights.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, Self

from torch import Tensor

from seqlab.training.optimizers.adam_moments import BETA1, BETA2, EPSILON, AdamMoments
from seqlab.training.optimizers.base import gradient_of, optimizers
from seqlab.training.settings import TrainingSettings


@optimizers.register("adam_2k")
class Adam2k(AdamMoments):
    """The first updates, 2,000 in the paper, change only `exp_avg_sq`; from then on it is AdamW.

        exp_avg_sq <- β₂ exp_avg_sq + (1 - β₂) g²                at every update t
        exp_avg    <- β₁ exp_avg    + (1 - β₁) g                 only where t > measured_steps, and then
        w          <- w - lr · weight_decay · w - lr · exp_avg/(1 - β₁ᵗ) / (√(exp_avg_sq/(1 - β₂ᵗ)) + ε)

    An experiment that separates two explanations of warm-up: weights and momentum do not change at first,
    so if training succeeds without a warm-up, it was the poor estimate of `exp_avg_sq` that made the first
    steps harmful. Paper: Liu et al. 2020, "On the Variance of the Adaptive Learning Rate and Beyond",
    arXiv:1908.03265, section 3.1.
    """

    def __init__(
        self,
        params: Iterable[Any],
        *,
        measured_steps: int = 2000,
        lr: float = 1e-3,
        weight_decay: float = 0.0,
    ) -> None:
        """measured_steps: number of initial updates during which the weights do not change."""
        super().__init__(params, lr=lr, weight_decay=weight_decay)
        self.measured_steps = measured_steps

    @classmethod
    def from_settings(cls, params: Iterable[Any], settings: TrainingSettings) -> Self:
        return cls(params, measured_steps=settings.measured_steps)

    def update_parameter(
        self, parameter: Tensor, state: dict[str, Tensor], step: int, *, lr: float, weight_decay: float
    ) -> None:
        if step > self.measured_steps:
            exp_avg = state["exp_avg"].lerp_(gradient_of(parameter), 1 - BETA1)
            denominator = state["exp_avg_sq"].sqrt().div_(math.sqrt(1 - BETA2**step)).add_(EPSILON)
            parameter.mul_(1 - lr * weight_decay).addcdiv_(
                exp_avg, denominator, value=-lr / (1 - BETA1**step)
            )
