"""Where a step stands, by plain arithmetic."""

from __future__ import annotations

import math
from itertools import pairwise

import pytest
import torch
from torch import Tensor

from seqlab.core.errors import ArgumentError
from seqlab.models.settings.transformer import TransformerSettings
from seqlab.models.transformer import TransformerBackbone
from seqlab.positions.base import PositionalEncoding
from seqlab.positions.learned import LearnedPositions
from seqlab.positions.none import NoPositions
from seqlab.positions.sinusoidal import SinusoidalPositions, sinusoid_curves


def added_to(positions: PositionalEncoding, steps: Tensor, *, start: list[int] | None = None) -> Tensor:
    """The steps with their places told, from the beginning or from where each sequence goes on."""
    places = torch.arange(steps.shape[1])[None]
    return positions.add(steps, places if start is None else torch.tensor(start)[:, None] + places)


def sinusoid(place: int, feature: int, size: int) -> float:
    angle = place / 10000 ** (2 * (feature // 2) / size)
    return math.sin(angle) if feature % 2 == 0 else math.cos(angle)


@pytest.mark.spec(151)
@pytest.mark.parametrize("size", [1, 2, 5, 20, 32])
def test_sinusoids_follow_the_formula(size: int) -> None:
    added = added_to(SinusoidalPositions(size), torch.zeros(2, 1000, size, dtype=torch.float64))
    for place in (0, 1, 2, 17, 99, 500, 999):
        expected = [sinusoid(place, feature, size) for feature in range(size)]
        assert added[0, place].tolist() == pytest.approx(expected, abs=1e-6)
        assert added[1, place].tolist() == pytest.approx(expected, abs=1e-6)


@pytest.mark.spec(151)
def test_the_table_has_a_thousand_places_and_grows_when_more_are_needed() -> None:
    positions = SinusoidalPositions(6)
    assert positions.rows(1, torch.zeros(1)).shape == (1000, 6)
    added = added_to(positions, torch.zeros(1, 2500, 6))
    for place in (999, 1000, 2499):
        assert added[0, place].tolist() == pytest.approx(
            [sinusoid(place, feature, 6) for feature in range(6)], abs=1e-6
        )


@pytest.mark.spec(152)
def test_neighbouring_features_are_one_wave_a_quarter_apart_and_later_pairs_are_slower() -> None:
    """The plot of the lecture: 20 features, 100 places, features 4 to 7."""
    curves = sinusoid_curves([4, 5, 6, 7], size=20, num_positions=100)
    rates = {4: 10000 ** (-4 / 20), 6: 10000 ** (-6 / 20)}
    for even, rate in rates.items():
        for place in range(100):
            assert curves[even][place] == pytest.approx(math.sin(place * rate), abs=1e-12)
            assert curves[even + 1][place] == pytest.approx(math.sin(place * rate + math.pi / 2), abs=1e-12)
    crossings = {
        feature: sum(1 for one, next_ in pairwise(values[1:]) if one * next_ < 0)
        for feature, values in curves.items()
    }
    assert crossings == {4: 4, 5: 5, 6: 1, 7: 2}
    assert [round(2 * math.pi / rate, 1) for rate in rates.values()] == [39.6, 99.6]


@pytest.mark.spec(151)
def test_a_few_numbers_of_the_table_to_the_digits() -> None:
    rows = SinusoidalPositions(4).rows(3, torch.zeros(1, dtype=torch.float64))[:3]
    expected = [
        [0.0, 1.0, 0.0, 1.0],
        [0.841471, 0.540302, 0.0099998, 0.99995],
        [0.909297, -0.416147, 0.0199987, 0.9998],
    ]
    for row, numbers in zip(rows.tolist(), expected, strict=True):
        assert row == pytest.approx(numbers, abs=5e-7)


@pytest.mark.spec(151)
def test_dropout_acts_after_the_sum() -> None:
    """Where a value of the sum is dropped, nothing of the place is left."""
    backbone = TransformerBackbone.from_settings(
        TransformerSettings(hidden_size=6, heads=2, layers=1, dropout=0.5, norm="post"), causal=False
    ).train()
    entered: list[Tensor] = []
    backbone.layers[0].attention.register_forward_pre_hook(lambda _module, inputs: entered.append(inputs[0]))
    backbone(torch.full((2, 500, 6), 3.0), torch.ones(2, 500, dtype=torch.bool))
    plain = 2 * (3.0 + SinusoidalPositions(6).rows(500, torch.zeros(1))[:500])
    dropped = entered[0] == 0
    assert 0.45 < dropped.float().mean() < 0.55
    torch.testing.assert_close(entered[0], plain.masked_fill(dropped, 0.0), rtol=0, atol=1e-5)


def test_in_double_precision_the_table_is_exact() -> None:
    for positions in (SinusoidalPositions(6).double(), SinusoidalPositions(6, max_length=3)):
        added = added_to(positions, torch.zeros(1, 1000, 6, dtype=torch.float64))
        assert added[0, 997].tolist() == pytest.approx(
            [sinusoid(997, feature, 6) for feature in range(6)], abs=1e-13
        )


def test_a_table_that_grew_while_predicting_still_trains() -> None:
    positions = SinusoidalPositions(6, max_length=2)
    with torch.inference_mode():
        added_to(positions, torch.zeros(1, 9, 6))
    steps = torch.zeros(1, 7, 6, requires_grad=True)
    (added_to(positions, steps) * torch.randn(6, requires_grad=True)).sum().backward()
    assert steps.grad is not None


@pytest.mark.parametrize("kind", ["sinusoidal", "learned", "none"])
@pytest.mark.spec(153)
def test_steps_that_go_on_stand_where_the_piece_before_ended(kind: str) -> None:
    torch.manual_seed(5)
    positions = {
        "sinusoidal": SinusoidalPositions(4, max_length=3),
        "learned": LearnedPositions(4, max_length=12),
        "none": NoPositions(),
    }[kind]
    steps = torch.randn(2, 11, 4)
    pieces = [
        added_to(positions, steps[:, start : start + 3], start=[start, start]) for start in range(0, 11, 3)
    ]
    assert torch.equal(torch.cat(pieces, dim=1), added_to(positions, steps))
    mixed = added_to(positions, torch.stack([steps[0, 2:4], steps[1, 7:9]]), start=[2, 7])
    assert torch.equal(
        mixed, torch.stack([added_to(positions, steps)[0, 2:4], added_to(positions, steps)[1, 7:9]])
    )


@pytest.mark.spec(153)
def test_learned_positions_add_one_trained_row_per_place() -> None:
    positions = LearnedPositions(4, max_length=9)
    steps = torch.randn(2, 5, 4)
    assert torch.equal(added_to(positions, steps, start=[3, 3]), steps + positions.table[3:8])
    added_to(positions, steps, start=[3, 3]).sum().backward()
    assert positions.table.grad is not None
    assert positions.table.grad[:, 0].tolist() == [0, 0, 0, 2, 2, 2, 2, 2, 0]


@pytest.mark.parametrize(("length", "start"), [(10, 0), (1, 9)])
def test_learned_positions_refuse_a_place_that_was_never_learned(length: int, start: int) -> None:
    with pytest.raises(ArgumentError) as caught:
        added_to(LearnedPositions(4, max_length=9), torch.zeros(1, length, 4), start=[start])
    assert (caught.value.argument, caught.value.value) == ("max_length", 9)
    assert "10 steps" in caught.value.what
    assert "max_length=10" in caught.value.cure
