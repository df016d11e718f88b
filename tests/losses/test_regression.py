"""Losses of predicted numbers against arithmetic."""

from __future__ import annotations

import pytest
import torch

from seqlab.losses.regression import huber_loss, squared_error

PREDICTED, TARGETS = torch.tensor([0.5, 3.0, -1.0, 2.0]), torch.tensor([0.0, 0.5, 3.0, 1.0])
ERRORS = [0.5, 2.5, 4.0, 1.0]


def test_the_squared_error_is_the_sum_of_half_the_squares() -> None:
    assert squared_error(PREDICTED, TARGETS).item() == pytest.approx(sum(error**2 / 2 for error in ERRORS))


def test_beyond_an_error_of_one_the_huber_loss_grows_linearly() -> None:
    expected = [error**2 / 2 if error <= 1 else error - 0.5 for error in ERRORS]
    assert huber_loss(PREDICTED, TARGETS).item() == pytest.approx(sum(expected))
    predicted = PREDICTED.clone().requires_grad_()
    huber_loss(predicted, TARGETS).backward()
    assert predicted.grad is not None
    assert predicted.grad.tolist() == [0.5, 1.0, -1.0, 1.0]  # no outlier pulls harder than an error of 1
