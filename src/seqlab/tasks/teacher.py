"""The teacher in knowledge distillation: a finished model whose outputs a new one learns."""

from __future__ import annotations

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from seqlab.losses.distillation import SoftTargets
from seqlab.models.recurrent import RecurrentBackbone
from seqlab.training.base import Carry


class Teacher:
    """A frozen model in eval mode, whose logits for every batch are part of the loss.

    Paper: Hinton et al. 2015, "Distilling the Knowledge in a Neural Network", arXiv:1503.02531.
    """

    def __init__(self, model: nn.Module, *, weight: float, temperature: float) -> None:
        self.model = model.eval().requires_grad_(False)
        self.weight = weight
        self.temperature = temperature

    @property
    def num_state_tensors(self) -> int:
        """Number of state tensors that a recurrent teacher carries from window to window of a stream."""
        backbone = self.model.get_submodule("backbone")
        return len(backbone.stack.state_sizes) if isinstance(backbone, RecurrentBackbone) else 0

    @torch.no_grad()
    def logits(self, *inputs: Tensor) -> Float[Tensor, "*targets classes"]:
        """Return the logits for the inputs of the student."""
        return self.model(*inputs)

    @torch.no_grad()
    def stream_logits(
        self,
        inputs: Int[Tensor, "batch time"],
        is_token: Bool[Tensor, "batch time"],
        state: Carry | None = None,
    ) -> tuple[Float[Tensor, "batch time vocab"], Carry]:
        """Return the logits at every step of a stream, and the state for the next window, if any."""
        logits, next_state = self.model(inputs, is_token, state or None)
        return logits, next_state if self.num_state_tensors else ()

    def soft_targets(self, logits: Float[Tensor, "*targets classes"]) -> SoftTargets:
        """Combine logits of the teacher with its weight in the loss."""
        return SoftTargets(logits, self.weight, self.temperature)
