"""Binary cross-entropy for multi-label targets."""

from __future__ import annotations

from jaxtyping import Bool, Float
from torch import Tensor
from torch.nn import functional as F


def binary_cross_entropy(
    logits: Float[Tensor, "batch classes"],
    targets: Bool[Tensor, "batch classes"],
    *,
    label_smoothing: float = 0.0,
) -> Float[Tensor, ""]:
    """Sum over examples and labels of -log P(target), where P(yes) = σ(logit).

    With label smoothing the targets are 1 - smoothing / 2 for yes and smoothing / 2 for no.
    """
    soft_targets = targets.to(logits.dtype) * (1 - label_smoothing) + label_smoothing / 2
    return F.binary_cross_entropy_with_logits(logits, soft_targets, reduction="sum")
