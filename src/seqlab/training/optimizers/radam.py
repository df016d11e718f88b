"""RAdam: Adam whose first steps are shortened by how little is known of the size of the gradients."""

from __future__ import annotations

import math

from torch import Tensor

from seqlab.training.optimizers.adam_moments import BETA1, BETA2, EPSILON, TwoMeans
from seqlab.training.optimizers.base import Memory, gradient_of, update_rules

ENOUGH = 5.0
"""So many squared gradients, in effect, must be known before a step is divided by their root."""


@update_rules.register("radam")
class RAdam(TwoMeans):
    """Rectified Adam, with weight decay beside the gradient. It warms up by itself.

        first, second    as in Adam
        ρ_max = 2/(1 - β₂) - 1                        squared gradients that `second` remembers in the end,
        ρ     = ρ_max - 2 t β₂ᵗ/(1 - β₂ᵗ)             and after t updates
        r     = √((ρ - 4)(ρ - 2) ρ_max / ((ρ_max - 4)(ρ_max - 2) ρ))
        w    <- w - rate · decay · w - rate · r · first/(1 - β₁ᵗ) · √(1 - β₂ᵗ) / (√second + ε)     where ρ > 5
        w    <- w - rate · decay · w - rate · first/(1 - β₁ᵗ)                                      before

    1/√second varies most when few gradients were seen; r is what brings the variance of a step down to that of later ones.
    Paper: Liu et al. 2020, "On the Variance of the Adaptive Learning Rate and Beyond", arXiv:1908.03265, algorithm 2 (which asks
    for ρ > 4; torch and the authors' own program for ρ > 5).
    """

    def move(self, parameter: Tensor, memory: Memory, count: int, *, rate: float, decay: float) -> None:
        first = memory["first"].lerp_(gradient_of(parameter), 1 - BETA1)
        parameter.mul_(1 - rate * decay)
        step = rate / (1 - BETA1**count)
        if known(count) > ENOUGH:
            size = memory["second"].sqrt().add_(EPSILON)
            parameter.addcdiv_(first, size, value=-step * rectification(count) * math.sqrt(1 - BETA2**count))
        else:
            parameter.sub_(first, alpha=step)


def known(count: int) -> float:
    """ρ after so many updates: how many squared gradients the decaying mean stands for.

    >>> known(1) < known(5) < ENOUGH < known(6) < known(10_000) < 1999
    True
    """
    return 2 / (1 - BETA2) - 1 - 2 * count * BETA2**count / (1 - BETA2**count)


def rectification(count: int) -> float:
    """r after so many updates, where ρ > 4.

    >>> round(rectification(6), 3), round(rectification(1_000), 2), round(rectification(20_000), 4)
    (0.026, 0.65, 1.0)
    """
    now, most = known(count), 2 / (1 - BETA2) - 1
    return math.sqrt((now - 4) * (now - 2) * most / ((most - 4) * (most - 2) * now))
