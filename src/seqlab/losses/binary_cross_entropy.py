"""Cross-entropy of many yes-or-no questions at once."""

from __future__ import annotations

from jaxtyping import Bool, Float
from torch import Tensor
from torch.nn import functional as F


def binary_cross_entropy(
    logits: Float[Tensor, "batch classes"], truth: Bool[Tensor, "batch classes"], *, smoothing: float = 0.0
) -> Float[Tensor, ""]:
    """Sum over examples and labels of -log of the probability of the truth, with σ(logit) for a yes.

    With smoothing a yes is worth 1 - smoothing / 2 and a no smoothing / 2.
    """
    wanted = truth.to(logits.dtype) * (1 - smoothing) + smoothing / 2
    return F.binary_cross_entropy_with_logits(logits, wanted, reduction="sum")
