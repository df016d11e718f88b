"""AdamW: adaptive step sizes with decoupled weight decay; the default."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.optim.adamw import adamw

from seqlab.training.optimizers.adam_moments import BETA1, BETA2, EPSILON
from seqlab.training.optimizers.base import Group, Optimizer, gradient_of, optimizers


@optimizers.register("adamw")
class AdamW(Optimizer):
    """Adam with decoupled weight decay, in torch's fused kernel.

        exp_avg    <- β₁ exp_avg    + (1 - β₁) g
        exp_avg_sq <- β₂ exp_avg_sq + (1 - β₂) g²
        w          <- w - lr · weight_decay · w - lr · exp_avg/(1 - β₁ᵗ) / (√(exp_avg_sq/(1 - β₂ᵗ)) + ε)

    Paper: Loshchilov & Hutter 2019, "Decoupled Weight Decay Regularization", arXiv:1711.05101.
    """

    def init_state(self, parameter: Tensor) -> dict[str, Tensor]:
        """The fused kernel keeps its step count on the device of the parameter."""
        step = torch.zeros((), device=parameter.device)
        return {
            "step": step,
            "exp_avg": torch.zeros_like(parameter),
            "exp_avg_sq": torch.zeros_like(parameter),
        }

    def update(self, parameters: list[Tensor], group: Group) -> None:
        states = [self.state[parameter] for parameter in parameters]
        adamw(
            parameters,
            [gradient_of(parameter) for parameter in parameters],
            [state["exp_avg"] for state in states],
            [state["exp_avg_sq"] for state in states],
            [],
            [state["step"] for state in states],
            fused=True,
            amsgrad=False,
            beta1=BETA1,
            beta2=BETA2,
            lr=group["lr"],
            weight_decay=group["weight_decay"],
            eps=EPSILON,
            maximize=False,
        )
