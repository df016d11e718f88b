"""Every activation: its values, its range, and its slope written through its value."""

from __future__ import annotations

import math

import pytest
import torch

from seqlab.cells.activations import ACTIVATIONS, get_activation, sample_activation
from seqlab.core.errors import UsageError


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_the_slope_through_the_value_is_the_derivative(name: str) -> None:
    activation = get_activation(name)
    x = torch.linspace(-3, 3, 11, dtype=torch.float64).requires_grad_()  # includes 0, where relu has a corner
    y = activation.function(x)
    (expected,) = torch.autograd.grad(y.sum(), x)
    torch.testing.assert_close(activation.derivative(y.detach()), expected, rtol=0, atol=1e-14)


@pytest.mark.spec(72)
@pytest.mark.parametrize(
    ("name", "function", "low", "high"),
    [
        ("tanh", math.tanh, -1.0, 1.0),
        ("sigmoid", lambda x: 1 / (1 + math.exp(-x)), 0.0, 1.0),
        ("relu", lambda x: max(x, 0.0), 0.0, math.inf),
        ("identity", float, -math.inf, math.inf),
    ],
)
def test_a_curve_holds_points_of_the_function_within_its_range(
    name: str, function: object, low: float, high: float
) -> None:
    found = sample_activation(name, -6, 6, 25)
    assert callable(function)
    assert found.inputs == pytest.approx([-6 + 0.5 * i for i in range(25)])
    assert found.outputs == pytest.approx([function(x) for x in found.inputs], abs=1e-12)
    slopes = [(function(x + 1e-6) - function(x - 1e-6)) / 2e-6 for x in found.inputs if x != 0]
    assert [
        slope for x, slope in zip(found.inputs, found.derivatives, strict=True) if x != 0
    ] == pytest.approx(slopes, abs=1e-6)
    assert (found.low, found.high) == (low, high)
    assert all(low <= y <= high for y in found.outputs)
    assert all(
        type(number) is float for part in (found.inputs, found.outputs, found.derivatives) for number in part
    )


@pytest.mark.spec(72)
def test_tanh_and_sigmoid_come_near_both_ends_of_their_range() -> None:
    for name in ("tanh", "sigmoid"):
        found = sample_activation(name, -12, 12, 3)
        assert found.outputs[0] == pytest.approx(found.low, abs=1e-4)
        assert found.outputs[-1] == pytest.approx(found.high, abs=1e-4)


def test_an_unknown_name_gets_the_nearest_one() -> None:
    with pytest.raises(UsageError, match="there is no activation called 'thanh'") as error:
        get_activation("thanh")
    assert "Did you mean 'tanh'?" in str(error.value)


@pytest.mark.parametrize(("low", "high", "points"), [(0, 1, 1), (1, 1, 5), (2, -2, 5)])
def test_a_curve_of_nothing_is_refused(low: float, high: float, points: int) -> None:
    with pytest.raises(UsageError, match="curve"):
        sample_activation("tanh", low, high, points)
