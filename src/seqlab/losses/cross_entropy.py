"""Cross-entropy over real targets only."""

from __future__ import annotations

from jaxtyping import Bool, Float, Int
from torch import Tensor
from torch.nn import functional as F


def class_cross_entropy(
    logits: Float[Tensor, "batch classes"],
    targets: Int[Tensor, " batch"],
    *,
    label_smoothing: float = 0.0,
    class_weights: Float[Tensor, " classes"] | None = None,
) -> Float[Tensor, ""]:
    """Sum over the batch of -log P(target), with label smoothing: a share of the target is spread over all
    classes.

    With class weights each example is weighted by its class; the mean is this sum divided by the sum of the
    weights of the targets.
    """
    if class_weights is None:
        return F.cross_entropy(logits, targets, reduction="sum", label_smoothing=label_smoothing)
    return class_weights[targets] @ F.cross_entropy(
        logits, targets, reduction="none", label_smoothing=label_smoothing
    )


def token_cross_entropy(
    logits: Float[Tensor, "batch time vocab"],
    targets: Int[Tensor, "batch time"],
    is_target: Bool[Tensor, "batch time"],
    *,
    label_smoothing: float = 0.0,
) -> Float[Tensor, ""]:
    """Sum over the real steps of -log P(target). Padding is ignored."""
    if not bool(is_target.all()):
        logits, targets = logits[is_target], targets[is_target]
    return F.cross_entropy(
        logits.reshape(-1, logits.shape[-1]),
        targets.reshape(-1),
        reduction="sum",
        label_smoothing=label_smoothing,
    )
