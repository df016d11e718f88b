"""A finished model whose answers a new one learns."""

from __future__ import annotations

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from seqlab.losses.distillation import SoftTargets
from seqlab.models.recurrent import RecurrentBackbone
from seqlab.training.base import Carry


class Teacher:
    """Looks at every batch as it is used afterwards (no dropout), never learns, and adds its part to the
    loss.

    Paper: Hinton et al. 2015, "Distilling the Knowledge in a Neural Network", arXiv:1503.02531.
    """

    def __init__(self, model: nn.Module, *, weight: float, temperature: float) -> None:
        self.model = model.eval().requires_grad_(False)
        self.weight = weight
        self.temperature = temperature

    @property
    def num_parts(self) -> int:
        """Tensors that a recurrent teacher carries from window to window of a stream."""
        backbone = self.model.get_submodule("backbone")
        return len(backbone.stack.state_sizes) if isinstance(backbone, RecurrentBackbone) else 0

    @torch.no_grad()
    def look(self, *inputs: Tensor) -> Float[Tensor, "*targets classes"]:
        """The teacher's logits, for whatever the student was given."""
        return self.model(*inputs)

    @torch.no_grad()
    def tokens(
        self,
        inputs: Int[Tensor, "batch time"],
        is_token: Bool[Tensor, "batch time"],
        state: Carry | None = None,
    ) -> tuple[Float[Tensor, "batch time vocab"], Carry]:
        """The teacher's logits at every step of a stream, and its state for the next window where it has
        one.
        """
        logits, after = self.model(inputs, is_token, state or None)
        return logits, after if self.num_parts else ()

    def soft_targets(self, logits: Float[Tensor, "*targets classes"]) -> SoftTargets:
        """The teacher's logits with its share in the loss."""
        return SoftTargets(logits, self.weight, self.temperature)
