"""Dropout with four elements to a draw."""

from __future__ import annotations

import math

import pytest
import torch

from seqlab.blocks.dropout import Dropout


@pytest.mark.parametrize("p", [0.1, 0.5, 0.9])
def test_the_share_that_is_dropped_is_p_and_the_mean_stays(p: float) -> None:
    torch.manual_seed(1)
    count = 200_001
    kept = Dropout(p)(torch.ones(count, dtype=torch.float64))
    error = 5 * math.sqrt(p * (1 - p) / count)
    assert (kept == 0).double().mean().item() == pytest.approx(p, abs=error)
    assert kept.mean().item() == pytest.approx(1, abs=error / (1 - p))
    assert kept.max().item() == pytest.approx(1 / (1 - p), rel=1e-3)


def test_neighbours_are_dropped_independently_of_each_other() -> None:
    torch.manual_seed(2)
    dropped = (Dropout(0.3)(torch.ones(400_000)) == 0).double() - 0.3
    for distance in (1, 2, 3, 4, 5, 8, 16):
        together = (dropped[:-distance] * dropped[distance:]).mean().item() / (0.3 * 0.7)
        assert abs(together) < 5 / math.sqrt(400_000)


def test_the_gradient_is_the_mask() -> None:
    torch.manual_seed(3)
    values = torch.randn(3, 5, 7, dtype=torch.float64, requires_grad=True)
    output = Dropout(0.4)(values)
    output.sum().backward()
    assert torch.equal(values.grad == 0, output == 0)
    assert torch.allclose(output, values * values.grad)


def test_it_does_nothing_in_evaluation_or_with_probability_zero() -> None:
    values = torch.randn(4, 3)
    assert Dropout(0.5).eval()(values) is values
    assert Dropout(0.0)(values) is values


def test_a_seed_repeats_the_mask_and_goes_on_from_a_saved_state() -> None:
    dropout, values = Dropout(0.5), torch.ones(13)
    torch.manual_seed(4)
    dropout(values)
    state = torch.get_rng_state()
    second = dropout(values)
    torch.set_rng_state(state)
    assert torch.equal(dropout(values), second)
