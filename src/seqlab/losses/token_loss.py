"""The loss of a network that predicts tokens, computed inside its forward pass."""

from __future__ import annotations

from dataclasses import dataclass

from jaxtyping import Bool, Float, Int
from torch import Tensor
from torch.nn import functional as F

from seqlab.losses.base import LossValue
from seqlab.losses.distillation import SoftTargets
from seqlab.losses.full_softmax import full_softmax_loss
from seqlab.losses.sampled_softmax import SampledSoftmax


@dataclass(frozen=True)
class TokenLoss:
    """Cross-entropy of the target of every step, computed from the output layer and its input.

    A network calls the loss in its forward pass, so that wrappers of forward (DistributedDataParallel, FSDP,
    torch.compile, hooks) see all parameters in use, and the logits of all steps need not be in memory at
    once.

    is_target: the steps that count; None means all. label_smoothing: for the full softmax. sampled_softmax:
    estimates the softmax from a sample of the vocabulary. soft_targets: the teacher's logits at every step
    that counts.
    """

    targets: Int[Tensor, "batch time"]
    is_target: Bool[Tensor, "batch time"] | None = None
    label_smoothing: float = 0.0
    sampled_softmax: SampledSoftmax | None = None
    soft_targets: SoftTargets | None = None

    def __call__(
        self,
        features: Float[Tensor, "batch time hidden"],
        weight: Float[Tensor, "vocab hidden"],
        bias: Float[Tensor, " vocab"],
    ) -> LossValue:
        if self.is_target is None:
            steps, targets = features.flatten(0, 1), self.targets.flatten()  # (steps, hidden), (steps,)
        else:
            features = steps = features[self.is_target]
            targets = self.targets[self.is_target]
        if self.sampled_softmax is None:
            value = full_softmax_loss(steps, weight, bias, targets, label_smoothing=self.label_smoothing)
        else:
            value = self.sampled_softmax(steps, weight, bias, targets)
        if self.soft_targets is None:
            return value
        return value._replace(total=self.soft_targets.mix(value.total, F.linear(features, weight, bias)))
