"""Reversible scaling of a window: the network reads and predicts changes relative to what it sees."""

from __future__ import annotations

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

SMALLEST = 0.01
"""Smallest scale of a window, in standard deviations of its series, so that noise in a constant window is not blown up."""


class WindowScale(nn.Module):
    """location = last value of the window (or its mean, or 0), scale = standard deviation of the window.

        x' = (x - location) / scale,    x = location + scale x'

    Missing values count neither in the location nor in the scale. Paper: Kim et al. 2022, "Reversible Instance
    Normalization for Accurate Time-Series Forecasting against Distribution Shift" (ICLR); the last value instead of the
    mean: NLinear, Zeng et al. 2023, arXiv:2205.13504.
    """

    def __init__(self, center: str) -> None:
        super().__init__()
        assert center in ("last", "mean", "none"), center
        self.center = center

    def forward(
        self, window: Float[Tensor, "batch context targets"], is_known: Bool[Tensor, "batch context targets"]
    ) -> tuple[Float[Tensor, "batch targets"], Float[Tensor, "batch targets"]]:
        """Return location and scale."""
        counts = is_known.sum(dim=1).clamp(min=1)
        values = window.masked_fill(~is_known, 0.0)
        mean = values.sum(dim=1) / counts  # (batch, targets)
        squares = (values - mean.unsqueeze(1)).masked_fill(~is_known, 0.0).square()
        if self.center == "none":
            return torch.zeros_like(mean), torch.ones_like(mean)
        scale = (squares.sum(dim=1) / counts).sqrt().clamp(min=SMALLEST)
        return (mean if self.center == "mean" else last_known(window, is_known)), scale


def last_known(
    window: Float[Tensor, "batch context targets"], is_known: Bool[Tensor, "batch context targets"]
) -> Float[Tensor, "batch targets"]:
    """Return the last value of each target that is not missing; 0 if all are."""
    steps = torch.arange(1, window.shape[1] + 1, device=window.device).view(1, -1, 1)
    last = (is_known * steps).amax(dim=1, keepdim=True)  # (batch, 1, targets), counted from 1
    values = window.gather(1, (last - 1).clamp(min=0)).squeeze(1)
    return values.masked_fill(last.squeeze(1) == 0, 0.0)
