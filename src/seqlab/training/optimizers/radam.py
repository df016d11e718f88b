"""RAdam: Adam with smaller first steps, as long as the second moment of the gradients is poorly estimated."""

from __future__ import annotations

import math

from torch import Tensor

from seqlab.training.optimizers.adam_moments import BETA1, BETA2, EPSILON, AdamMoments
from seqlab.training.optimizers.base import gradient_of, optimizers

ENOUGH = 5.0
"""The effective number of squared gradients above which a step is divided by their root mean square."""


@optimizers.register("radam")
class RAdam(AdamMoments):
    """Rectified Adam with decoupled weight decay. It needs no warm-up.

        exp_avg, exp_avg_sq    as in Adam
        ρ_max = 2/(1 - β₂) - 1                        squared gradients that `exp_avg_sq` remembers in the limit,
        ρ     = ρ_max - 2 t β₂ᵗ/(1 - β₂ᵗ)             and after t updates
        r     = √((ρ - 4)(ρ - 2) ρ_max / ((ρ_max - 4)(ρ_max - 2) ρ))
        w    <- w - lr · weight_decay · w - lr · r · exp_avg/(1 - β₁ᵗ) · √(1 - β₂ᵗ) / (√exp_avg_sq + ε)   where ρ > 5
        w    <- w - lr · weight_decay · w - lr · exp_avg/(1 - β₁ᵗ)                                        before

    The variance of 1/√exp_avg_sq is largest after few gradients; r reduces the variance of a step to that of
    later steps. Paper: Liu et al. 2020, "On the Variance of the Adaptive Learning Rate and Beyond",
    arXiv:1908.03265, algorithm 2 (which asks for ρ > 4; torch and the authors' own program ask for ρ > 5).
    """

    def update_parameter(
        self, parameter: Tensor, state: dict[str, Tensor], step: int, *, lr: float, weight_decay: float
    ) -> None:
        exp_avg = state["exp_avg"].lerp_(gradient_of(parameter), 1 - BETA1)
        parameter.mul_(1 - lr * weight_decay)
        step_size = lr / (1 - BETA1**step)
        if effective_samples(step) > ENOUGH:
            denominator = state["exp_avg_sq"].sqrt().add_(EPSILON)
            parameter.addcdiv_(
                exp_avg, denominator, value=-step_size * rectification(step) * math.sqrt(1 - BETA2**step)
            )
        else:
            parameter.sub_(exp_avg, alpha=step_size)


def effective_samples(step: int) -> float:
    """ρ after `step` updates: how many squared gradients the moving average represents.

    >>> effective_samples(1) < effective_samples(5) < ENOUGH < effective_samples(6) < effective_samples(10_000) < 1999
    True
    """
    return 2 / (1 - BETA2) - 1 - 2 * step * BETA2**step / (1 - BETA2**step)


def rectification(step: int) -> float:
    """r after `step` updates, where ρ > 4.

    >>> round(rectification(6), 3), round(rectification(1_000), 2), round(rectification(20_000), 4)
    (0.026, 0.65, 1.0)
    """
    now, limit = effective_samples(step), 2 / (1 - BETA2) - 1
    return math.sqrt((now - 4) * (now - 2) * limit / ((limit - 4) * (limit - 2) * now))
