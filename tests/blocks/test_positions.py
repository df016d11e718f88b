"""Where a step stands, by plain arithmetic."""

from __future__ import annotations

import math

import pytest
import torch

from seqlab.blocks.positions import LearnedPositions, NoPositions, SinusoidalPositions
from seqlab.core.errors import UsageError


def sinusoid(place: int, feature: int, size: int) -> float:
    angle = place / 10000 ** (2 * (feature // 2) / size)
    return math.sin(angle) if feature % 2 == 0 else math.cos(angle)


@pytest.mark.spec(151)
@pytest.mark.parametrize("size", [1, 2, 5, 20, 32])
def test_sinusoids_follow_the_formula(size: int) -> None:
    added = SinusoidalPositions(size)(torch.zeros(2, 1000, size, dtype=torch.float64))
    for place in (0, 1, 2, 17, 99, 500, 999):
        expected = [sinusoid(place, feature, size) for feature in range(size)]
        assert added[0, place].tolist() == pytest.approx(expected, abs=1e-6)
        assert added[1, place].tolist() == pytest.approx(expected, abs=1e-6)


@pytest.mark.spec(151)
def test_the_table_has_a_thousand_places_and_grows_when_more_are_needed() -> None:
    positions = SinusoidalPositions(6)
    assert positions.rows(1, torch.zeros(1)).shape == (1000, 6)
    added = positions(torch.zeros(1, 2500, 6))
    for place in (999, 1000, 2499):
        assert added[0, place].tolist() == pytest.approx([sinusoid(place, feature, 6) for feature in range(6)], abs=1e-6)


def test_in_double_precision_the_table_is_exact() -> None:
    for positions in (SinusoidalPositions(6).double(), SinusoidalPositions(6, max_length=3)):
        added = positions(torch.zeros(1, 1000, 6, dtype=torch.float64))
        assert added[0, 997].tolist() == pytest.approx([sinusoid(997, feature, 6) for feature in range(6)], abs=1e-13)


def test_a_table_that_grew_while_predicting_still_trains() -> None:
    positions = SinusoidalPositions(6, max_length=2)
    with torch.inference_mode():
        positions(torch.zeros(1, 9, 6))
    steps = torch.zeros(1, 7, 6, requires_grad=True)
    (positions(steps) * torch.randn(6, requires_grad=True)).sum().backward()
    assert steps.grad is not None


@pytest.mark.parametrize("kind", ["sinusoidal", "learned", "none"])
@pytest.mark.spec(153)
def test_steps_that_go_on_stand_where_the_piece_before_ended(kind: str) -> None:
    torch.manual_seed(5)
    positions = {"sinusoidal": SinusoidalPositions(4, max_length=3), "learned": LearnedPositions(4, max_length=12), "none": NoPositions()}[kind]
    steps = torch.randn(2, 11, 4)
    pieces = [positions(steps[:, start : start + 3], start=torch.tensor([start, start])) for start in range(0, 11, 3)]
    assert torch.equal(torch.cat(pieces, dim=1), positions(steps))
    mixed = positions(torch.stack([steps[0, 2:4], steps[1, 7:9]]), start=torch.tensor([2, 7]))
    assert torch.equal(mixed, torch.stack([positions(steps)[0, 2:4], positions(steps)[1, 7:9]]))


@pytest.mark.spec(153)
def test_learned_positions_add_one_trained_row_per_place() -> None:
    positions = LearnedPositions(4, max_length=9)
    steps = torch.randn(2, 5, 4)
    assert torch.equal(positions(steps, start=torch.tensor([3, 3])), steps + positions.table[3:8])
    positions(steps, start=torch.tensor([3, 3])).sum().backward()
    assert positions.table.grad is not None
    assert positions.table.grad[:, 0].tolist() == [0, 0, 0, 2, 2, 2, 2, 2, 0]


@pytest.mark.parametrize(("length", "start"), [(10, 0), (1, 9)])
def test_learned_positions_refuse_a_place_that_was_never_learned(length: int, start: int) -> None:
    with pytest.raises(UsageError) as caught:
        LearnedPositions(4, max_length=9)(torch.zeros(1, length, 4), start=torch.tensor([start]))
    assert str(caught.value) == (
        "a sequence of 10 steps, but positions were learned for 9.\n"
        "  Cut the input, or train with a larger model.max_positions or model.positions=sinusoidal."
    )
