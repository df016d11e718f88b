"""The base class of the Adam variants: moving averages of the gradient and its square, and a step count."""

from __future__ import annotations

from abc import abstractmethod

import torch
from torch import Tensor

from seqlab.training.optimizers.base import Group, Optimizer, gradient_of

BETA1, BETA2, EPSILON = 0.9, 0.999, 1e-8


class AdamMoments(Optimizer):
    """An optimizer that updates parameter by parameter, because its update depends on the step number.

    exp_avg_sq <- β₂ exp_avg_sq + (1 - β₂) g²      at every step; the subclass decides when `exp_avg` follows
    the gradient
    """

    def init_state(self, parameter: Tensor) -> dict[str, Tensor]:
        """As in AdamW, but the step count stays on the CPU, where Python can read it without a transfer."""
        return {
            "step": torch.zeros(()),
            "exp_avg": torch.zeros_like(parameter),
            "exp_avg_sq": torch.zeros_like(parameter),
        }

    def update(self, parameters: list[Tensor], group: Group) -> None:
        for parameter in parameters:
            gradient, state = gradient_of(parameter), self.state[parameter]
            step = int(state["step"].add_(1))
            state["exp_avg_sq"].mul_(BETA2).addcmul_(gradient, gradient, value=1 - BETA2)
            self.update_parameter(parameter, state, step, lr=group["lr"], weight_decay=group["weight_decay"])

    @abstractmethod
    def update_parameter(
        self, parameter: Tensor, state: dict[str, Tensor], step: int, *, lr: float, weight_decay: float
    ) -> None:
        """Apply update number `step` to one parameter; `exp_avg_sq` is already up to date."""
