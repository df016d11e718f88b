from __future__ import annotations

import math

import pytest
import torch
from torch import nn

from seqlab.training.gradients import clip_by_norm


def parameters_with(*gradients: list[float] | None) -> list[nn.Parameter]:
    parameters = [nn.Parameter(torch.zeros(len(gradient or [0.0]))) for gradient in gradients]
    for parameter, gradient in zip(parameters, gradients, strict=True):
        parameter.grad = None if gradient is None else torch.tensor(gradient)
    return parameters


def gradients_of(parameters: list[nn.Parameter]) -> list[float]:
    return [
        value for parameter in parameters if parameter.grad is not None for value in parameter.grad.tolist()
    ]


@pytest.mark.spec(90)
def test_a_long_gradient_keeps_its_direction_and_gets_the_length_of_the_limit() -> None:
    parameters = parameters_with([3.0, 0.0], None, [4.0])
    assert clip_by_norm(parameters, 2.0) == pytest.approx(5.0)
    assert gradients_of(parameters) == pytest.approx([3 * 2 / 5, 0.0, 4 * 2 / 5])
    assert math.hypot(*gradients_of(parameters)) == pytest.approx(2.0, rel=1e-7)


@pytest.mark.spec(90)
@pytest.mark.parametrize("limit", [5.0, 5.1, 1000.0, 0.0])
def test_a_gradient_within_the_limit_is_left_to_the_last_bit(limit: float) -> None:
    parameters = parameters_with([3.0, 0.0], [4.0])
    assert clip_by_norm(parameters, limit) == 5.0
    assert gradients_of(parameters) == [3.0, 0.0, 4.0]


@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_what_is_not_finite_is_reported_and_not_touched(bad: float) -> None:
    parameters = parameters_with([bad, 1.0])
    assert not math.isfinite(clip_by_norm(parameters, 1.0))
    assert gradients_of(parameters)[1] == 1.0


def test_without_gradients_the_norm_is_zero() -> None:
    assert clip_by_norm(parameters_with(None), 1.0) == 0.0
