"""The linear term of a forecaster in closed form: ridge regression on all windows, before the first update.

    minimize Σ scale² |y' - naive' - W x' - b|² + λ |W|²

x' and y' are window and truth in units of the window; the weight scale² makes errors count in units of the series. Every λ
is tried on held-out windows. From there, training only has to find what a linear map cannot express.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from seqlab.models.forecasting.forecaster import Forecaster

STRENGTHS = tuple(10.0**power for power in range(-5, 3))
"""λ, relative to the mean square of the inputs."""


@dataclass(frozen=True)
class Window:
    """A batch of windows with their truths."""

    inputs: Float[Tensor, "batch context columns"]
    is_known: Bool[Tensor, "batch context targets"]
    truth: Float[Tensor, "batch horizon targets"]
    is_truth: Bool[Tensor, "batch horizon targets"]


Windows = Callable[[], Iterable[Window]]


@torch.no_grad()
def fit_linear(network: Forecaster, train: Windows, valid: Windows) -> None:
    """Set the linear term to the ridge regression that is best on validation windows."""
    assert isinstance(network.linear, nn.Linear)
    sums = _Sums(network)
    for windows in train():
        sums.add(windows)
    candidates = [sums.solve(strength) for strength in STRENGTHS]
    errors = [0.0] * len(candidates)
    for windows in valid():
        inputs, rest, weights = _regression(network, windows)
        for number, (slope, intercept) in enumerate(candidates):
            errors[number] += float((weights * (rest - inputs @ slope - intercept).square()).sum())
    slope, intercept = candidates[errors.index(min(errors))]
    network.linear.weight.copy_(slope.T)
    network.linear.bias.copy_(intercept)


class _Sums:
    """Σ w x xᵀ, Σ w x yᵀ and their means, over all windows whose truths are complete."""

    def __init__(self, network: Forecaster) -> None:
        size = network.context + 1  # one more for the intercept
        self.network = network
        self.gram = torch.zeros(size, size, dtype=torch.float64)
        self.moments = torch.zeros(size, network.horizon, dtype=torch.float64)

    def add(self, windows: Window) -> None:
        inputs, rest, weights = _regression(self.network, windows)
        extended = torch.cat([inputs, torch.ones(len(inputs), 1, dtype=torch.float64)], dim=1)
        self.gram += extended.T @ (weights * extended)
        self.moments += extended.T @ (weights * rest)

    def solve(self, strength: float) -> tuple[Tensor, Tensor]:
        """Return slope (context, horizon) and intercept, which is not penalized."""
        penalty = strength * self.gram.diagonal()[:-1].mean().clamp(min=1e-12)
        diagonal = torch.full((len(self.gram),), float(penalty), dtype=torch.float64)
        diagonal[-1] = 1e-9 * float(penalty)
        solution = torch.linalg.solve(self.gram + torch.diag(diagonal), self.moments)
        return solution[:-1], solution[-1]


def _regression(network: Forecaster, windows: Window) -> tuple[Tensor, Tensor, Tensor]:
    """Return inputs, what the naive forecast leaves, and weights, one row for each window and target."""
    targets = windows.inputs[..., : network.num_targets]
    location, scale = network.scaling(targets, windows.is_known)
    scaled = network.in_window_units(targets, windows.is_known, location, scale)
    truth = (windows.truth - location.unsqueeze(1)) / scale.unsqueeze(1)
    rest = truth - network.naive(scaled)
    is_complete = windows.is_truth.all(dim=1)  # (batch, targets)
    rows = scaled.transpose(1, 2)[is_complete].double()
    return rows, rest.transpose(1, 2)[is_complete].double(), scale[is_complete].double().square().unsqueeze(1)
