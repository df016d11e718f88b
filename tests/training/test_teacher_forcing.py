"""How fast a decoder is left to itself."""

from __future__ import annotations

import math

import pytest

from seqlab.training.teacher_forcing import Decay, teacher_forcing_ratio


@pytest.mark.spec(111)
@pytest.mark.parametrize("decay", ["linear", "exponential", "inverse_sigmoid"])
def test_every_decay_starts_at_the_truth_is_one_half_when_it_says_and_never_rises(decay: Decay) -> None:
    shares = [teacher_forcing_ratio(step, decay=decay, half=500) for step in range(0, 5000, 50)]
    assert shares[0] > 0.98
    assert teacher_forcing_ratio(500, decay=decay, half=500) == pytest.approx(0.5)
    assert shares == sorted(shares, reverse=True)
    assert shares[-1] < 0.01
    assert (
        min(teacher_forcing_ratio(step, decay=decay, half=500, least=0.3) for step in (0, 500, 50_000)) == 0.3
    )


@pytest.mark.spec(111)
def test_shapes_are_those_of_the_paper() -> None:
    assert teacher_forcing_ratio(100, decay="linear", half=200) == 0.75
    assert teacher_forcing_ratio(300, decay="exponential", half=100) == 0.125
    k = next(k / 1000 for k in range(3000, 400_000) if k / 1000 * math.log(k / 1000) >= 500)
    assert teacher_forcing_ratio(250, decay="inverse_sigmoid", half=500) == pytest.approx(
        k / (k + math.exp(250 / k)), rel=1e-3
    )
    assert (
        teacher_forcing_ratio(0, decay="constant", half=1, least=0.4)
        == teacher_forcing_ratio(10**6, decay="constant", half=1, least=0.4)
        == 0.4
    )
    assert teacher_forcing_ratio(10**9, decay="none", half=1) == 1.0
    assert teacher_forcing_ratio(10**9, decay="inverse_sigmoid", half=10) == pytest.approx(
        0.0, abs=1e-9
    )  # no overflow
