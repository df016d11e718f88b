"""AdamW: steps of about the same length for every weight, and weight decay beside the gradient."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.optim.adamw import adamw

from seqlab.training.optimizers.adam_moments import BETA1, BETA2, EPSILON
from seqlab.training.optimizers.base import Memory, UpdateRule, gradient_of, update_rules


@update_rules.register("adamw")
class AdamW(UpdateRule):
    """Adam with weight decay beside the gradient, in torch's fused kernel.

        first  <- β₁ first  + (1 - β₁) g
        second <- β₂ second + (1 - β₂) g²
        w      <- w - rate · decay · w - rate · first/(1 - β₁ᵗ) / (√(second/(1 - β₂ᵗ)) + ε)

    Paper: Loshchilov & Hutter 2019, "Decoupled Weight Decay Regularization", arXiv:1711.05101. torch.optim.AdamW does the
    same, but making one imports torch's compiler: seconds that a short run does not have.
    """

    def remember(self, parameter: nn.Parameter) -> Memory:
        """Decaying means of the gradient and of its square, and the updates so far."""
        return {"first": torch.zeros_like(parameter), "second": torch.zeros_like(parameter), "count": torch.zeros((), device=parameter.device)}

    def update(self, parameters: Sequence[Tensor], memories: Sequence[Memory], *, rate: float, decay: float) -> None:
        adamw(
            list(parameters),
            [gradient_of(parameter) for parameter in parameters],
            [memory["first"] for memory in memories],
            [memory["second"] for memory in memories],
            [],
            [memory["count"] for memory in memories],
            fused=True,
            amsgrad=False,
            beta1=BETA1,
            beta2=BETA2,
            lr=rate,
            weight_decay=decay,
            eps=EPSILON,
            maximize=False,
        )
