"""Activation functions by name, with their range and with their derivative as a function of their value."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import inf

import torch
from jaxtyping import Float
from torch import Tensor

from seqlab.core.errors import UsageError, nearest


@dataclass(frozen=True)
class Activation:
    """y = function(x), low <= y <= high, and dy/dx = derivative(y).

    The derivative is a function of the value y alone, so a hand-written backward pass only stores the outputs
    of a layer.
    """

    name: str
    function: Callable[[Tensor], Tensor]
    derivative: Callable[[Tensor], Tensor]
    low: float
    high: float


ACTIVATIONS: dict[str, Activation] = {
    activation.name: activation
    for activation in (
        Activation("tanh", torch.tanh, lambda y: 1 - y * y, -1.0, 1.0),
        Activation("sigmoid", torch.sigmoid, lambda y: y - y * y, 0.0, 1.0),
        Activation("relu", torch.relu, lambda y: (y > 0).to(y.dtype), 0.0, inf),
        Activation("identity", lambda x: x, torch.ones_like, -inf, inf),
    )
}


def get_activation(name: str) -> Activation:
    """The activation of this name.

    >>> get_activation("sigmoid").high
    1.0
    """
    if name not in ACTIVATIONS:
        raise UsageError(f"there is no activation called '{name}'.", cure=nearest(name, ACTIVATIONS))
    return ACTIVATIONS[name]


@dataclass(frozen=True)
class SampledActivation:
    """An activation sampled for a chart: plain numbers for each point, and the range of its values."""

    name: str
    inputs: list[float]
    outputs: list[float]
    derivatives: list[float]
    low: float
    high: float


def sample_activation(name: str, low: float = -4.0, high: float = 4.0, points: int = 81) -> SampledActivation:
    """Sample an activation and its derivative at `points` evenly spaced inputs from `low` to `high`.

    >>> sample_activation("relu", -1, 1, 3).outputs
    [0.0, 0.0, 1.0]
    """
    if points < 2 or not low < high:
        raise UsageError(
            f"{points} points from {low} to {high} do not define a curve.",
            cure="Use at least two points, with the lower end first.",
        )
    activation = get_activation(name)
    inputs: Float[Tensor, "points"] = torch.linspace(low, high, points, dtype=torch.float64)
    outputs = activation.function(inputs)
    return SampledActivation(
        name,
        inputs.tolist(),
        outputs.tolist(),
        activation.derivative(outputs).tolist(),
        activation.low,
        activation.high,
    )
