"""SGD with momentum, which needs a higher learning rate and more tuning than AdamW."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Self

import torch
from torch import Tensor

from seqlab.training.optimizers.base import Group, Optimizer, gradient_of, optimizers
from seqlab.training.settings import TrainingSettings


@optimizers.register("sgd")
class SGD(Optimizer):
    """Stochastic gradient descent with momentum, and decoupled weight decay as in the other optimizers.

        momentum_buffer <- momentum · momentum_buffer + g
        w               <- w - lr · weight_decay · w - lr · momentum_buffer

    Paper: Sutskever et al. 2013, "On the importance of initialization and momentum in deep learning", with
    the learning rate outside.
    """

    def __init__(
        self, params: Iterable[Any], *, momentum: float = 0.0, lr: float = 1e-3, weight_decay: float = 0.0
    ) -> None:
        super().__init__(params, lr=lr, weight_decay=weight_decay, momentum=momentum)

    @classmethod
    def from_settings(cls, params: Iterable[Any], settings: TrainingSettings) -> Self:
        return cls(params, momentum=settings.momentum)

    def init_state(self, parameter: Tensor) -> dict[str, Tensor]:
        return {"momentum_buffer": torch.zeros_like(parameter)}

    def update(self, parameters: list[Tensor], group: Group) -> None:
        lr = group["lr"]
        for parameter in parameters:
            momentum_buffer = (
                self.state[parameter]["momentum_buffer"].mul_(group["momentum"]).add_(gradient_of(parameter))
            )
            parameter.mul_(1 - lr * group["weight_decay"]).sub_(lr * momentum_buffer)
