"""What the relatives of Adam have in common: decaying means of each gradient and of its square, and how many were seen."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence

import torch
from torch import Tensor, nn

from seqlab.training.optimizers.base import Memory, UpdateRule, gradient_of

BETA1, BETA2, EPSILON = 0.9, 0.999, 1e-8


class TwoMeans(UpdateRule):
    """A rule that is written out parameter by parameter, since what it does depends on the number of the update.

    second <- β₂ second + (1 - β₂) g²      in every update; when `first` follows the gradient is for the rule to say
    """

    def remember(self, parameter: nn.Parameter) -> Memory:
        """As AdamW; the count stays where Python can read it at no cost."""
        return {"first": torch.zeros_like(parameter), "second": torch.zeros_like(parameter), "count": torch.zeros(())}

    def update(self, parameters: Sequence[Tensor], memories: Sequence[Memory], *, rate: float, decay: float) -> None:
        for parameter, memory in zip(parameters, memories, strict=True):
            gradient, count = gradient_of(parameter), int(memory["count"].add_(1))
            memory["second"].mul_(BETA2).addcmul_(gradient, gradient, value=1 - BETA2)
            self.move(parameter, memory, count, rate=rate, decay=decay)

    @abstractmethod
    def move(self, parameter: Tensor, memory: Memory, count: int, *, rate: float, decay: float) -> None:
        """The update of one parameter, the `count`-th, with `second` already up to date."""
