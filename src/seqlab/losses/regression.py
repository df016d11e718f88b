"""Regression losses."""

from __future__ import annotations

from jaxtyping import Float
from torch import Tensor
from torch.nn import functional as F


def squared_error(predicted: Float[Tensor, " batch"], targets: Float[Tensor, " batch"]) -> Float[Tensor, ""]:
    """Sum over the batch of (predicted - truth)² / 2; minimized by the mean."""
    return F.mse_loss(predicted, targets, reduction="sum") / 2


def huber_loss(predicted: Float[Tensor, " batch"], targets: Float[Tensor, " batch"]) -> Float[Tensor, ""]:
    """Huber loss, summed over the batch: half the squared error up to an error of 1, and the absolute error
    minus one half beyond, which is more robust to outliers.

    Paper: Huber 1964, "Robust Estimation of a Location Parameter".
    """
    return F.huber_loss(predicted, targets, reduction="sum")
