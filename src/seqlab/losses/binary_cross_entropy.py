"""Cross-entropy of many yes-or-no questions at once."""

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
    """Sum over examples and labels of -log of the probability of the truth, with σ(logit) for a yes.

    With smoothing a yes is worth 1 - smoothing / 2 and a no smoothing / 2.
    """
    soft_targets = targets.to(logits.dtype) * (1 - label_smoothing) + label_smoothing / 2
    return F.binary_cross_entropy_with_logits(logits, soft_targets, reduction="sum")
