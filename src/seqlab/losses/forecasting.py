"""What a forecaster predicts about the future: quantiles, or a normal distribution, each with its loss.

The functions work on the numbers that a network gives for every step ("parameters") and on truths in the same units.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from statistics import NormalDist

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn import functional as F

Parameters = Float[Tensor, "*steps parameters"]


class ForecastOutput(ABC):
    """A kind of prediction."""

    num_parameters: int
    """Numbers per step and target that the network has to give."""
    levels: tuple[float, ...]
    """The quantiles that are reported; 0.5 is the point forecast."""
    center: int
    """The parameter that is the median, to which a naive forecast is added."""

    @abstractmethod
    def quantiles(self, parameters: Parameters) -> Float[Tensor, "*steps levels"]:
        """Return the quantiles of all levels, in increasing order."""

    @abstractmethod
    def loss(self, parameters: Parameters, truth: Float[Tensor, "*steps"]) -> Float[Tensor, "*steps"]:
        """Return the loss of every step."""

    @abstractmethod
    def rescale(
        self, loss: Float[Tensor, "*steps"], scale: Float[Tensor, "*steps"]
    ) -> Float[Tensor, "*steps"]:
        """Return the loss in units that are smaller by a factor of `scale`."""

    @property
    def median(self) -> int:
        return self.levels.index(0.5)


class QuantileOutput(ForecastOutput):
    """The quantiles themselves, which cannot cross: the median, and steps away from it that are positive.

        q_{m+k} = median + Σ_{i≤k} softplus(a_i),    q_{m-k} = median - Σ_{i≤k} softplus(b_i)
        loss    = mean over levels of 2 max(τ (y - q_τ), (τ - 1) (y - q_τ))

    Koenker and Bassett 1978, "Regression Quantiles". With a factor of 2, the loss of the median is the absolute error.
    """

    def __init__(self, levels: Sequence[float]) -> None:
        assert sorted(set(levels)) == list(levels), "levels must increase"
        assert 0.5 in levels, "the median is the point forecast"
        self.levels = tuple(levels)
        self.num_parameters = len(levels)
        self.center = self.median

    def quantiles(self, parameters: Parameters) -> Float[Tensor, "*steps levels"]:
        middle = self.median
        median, steps = parameters[..., middle : middle + 1], F.softplus(parameters)
        below = median - steps[..., :middle].flip(-1).cumsum(-1).flip(-1)
        above = median + steps[..., middle + 1 :].cumsum(-1)
        return torch.cat([below, median, above], dim=-1)

    def loss(self, parameters: Parameters, truth: Float[Tensor, "*steps"]) -> Float[Tensor, "*steps"]:
        error = truth.unsqueeze(-1) - self.quantiles(parameters)
        levels = error.new_tensor(self.levels)
        return 2 * torch.maximum(levels * error, (levels - 1) * error).mean(dim=-1)

    def rescale(
        self, loss: Float[Tensor, "*steps"], scale: Float[Tensor, "*steps"]
    ) -> Float[Tensor, "*steps"]:
        return loss * scale


class NormalOutput(ForecastOutput):
    """Mean and standard deviation (softplus of a number) of a normal distribution.

    loss = ½ ((y - μ) / σ)² + log σ + ½ log 2π
    """

    num_parameters = 2
    center = 0

    def __init__(self, levels: Sequence[float]) -> None:
        self.levels = tuple(levels)
        self._offsets = [NormalDist().inv_cdf(level) for level in levels]

    def quantiles(self, parameters: Parameters) -> Float[Tensor, "*steps levels"]:
        mean, deviation = self._split(parameters)
        return mean.unsqueeze(-1) + deviation.unsqueeze(-1) * mean.new_tensor(self._offsets)

    def loss(self, parameters: Parameters, truth: Float[Tensor, "*steps"]) -> Float[Tensor, "*steps"]:
        mean, deviation = self._split(parameters)
        return 0.5 * ((truth - mean) / deviation).square() + deviation.log() + 0.5 * math.log(2 * math.pi)

    def rescale(
        self, loss: Float[Tensor, "*steps"], scale: Float[Tensor, "*steps"]
    ) -> Float[Tensor, "*steps"]:
        """The density of s y is that of y, divided by s."""
        return loss + scale.log()

    def _split(self, parameters: Parameters) -> tuple[Tensor, Tensor]:
        return parameters[..., 0], F.softplus(parameters[..., 1]) + 1e-4


OUTPUTS: dict[str, type[QuantileOutput] | type[NormalOutput]] = {
    "quantiles": QuantileOutput,
    "normal": NormalOutput,
}
