"""How far predicted numbers are off."""

from __future__ import annotations

from jaxtyping import Float
from torch import Tensor
from torch.nn import functional as F


def squared_error(predicted: Float[Tensor, " batch"], targets: Float[Tensor, " batch"]) -> Float[Tensor, ""]:
    """Sum over the batch of (predicted - truth)² / 2: its smallest value is at the mean."""
    return F.mse_loss(predicted, targets, reduction="sum") / 2


def huber_loss(predicted: Float[Tensor, " batch"], targets: Float[Tensor, " batch"]) -> Float[Tensor, ""]:
    """Sum over the batch of half the squared error up to an error of 1, and of the error less one half
    beyond: outliers pull less.

    Paper: Huber 1964, "Robust Estimation of a Location Parameter".
    """
    return F.huber_loss(predicted, targets, reduction="sum")
