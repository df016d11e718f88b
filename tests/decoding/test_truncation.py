"""Narrowing and drawing, against brute force over all subsets of a small vocabulary."""

from __future__ import annotations

import math
from itertools import combinations

import pytest
import torch
from hypothesis import assume, given
from hypothesis import strategies as st

from seqlab.decoding.settings import DecodingSettings
from seqlab.decoding.truncation import keep_top_k, keep_top_p, sample_token

LOGITS = st.lists(st.floats(-6, 6, allow_nan=False, width=32), min_size=1, max_size=7)


def probabilities(logits: list[float]) -> list[float]:
    weights = [math.exp(value - max(logits)) for value in logits]
    return [weight / sum(weights) for weight in weights]


def kept(logits: torch.Tensor) -> set[int]:
    return {place for place, value in enumerate(logits[0].tolist()) if value != -math.inf}


@pytest.mark.slow
@given(LOGITS, st.integers(0, 9))
def test_top_k_keeps_those_that_fewer_than_k_others_beat(logits: list[float], k: int) -> None:
    expected = {i for i, value in enumerate(logits) if k == 0 or sum(other > value for other in logits) < k}
    narrowed = keep_top_k(torch.tensor([logits]), k)
    assert kept(narrowed) == expected
    assert all(narrowed[0, place].item() == torch.tensor(logits)[place].item() for place in expected)


@pytest.mark.slow
@given(LOGITS, st.floats(0.01, 1.0))
def test_top_p_keeps_the_smallest_set_that_reaches_p(logits: list[float], p: float) -> None:
    shares = probabilities(logits)
    sums = [
        sum(shares[i] for i in chosen)
        for size in range(1, len(shares) + 1)
        for chosen in combinations(range(len(shares)), size)
    ]
    assume(all(abs(total - p) > 1e-5 for total in sums))  # rounding may fall on either side of the border
    needed = (
        min(size for size in range(1, len(shares) + 1) if p >= 1 or sum(sorted(shares)[-size:]) >= p)
        if p < 1
        else len(shares)
    )
    found = kept(keep_top_p(torch.tensor([logits]), p))
    assert len(found) == needed
    assert sum(shares[place] for place in found) == pytest.approx(sum(sorted(shares)[-needed:]))


@pytest.mark.slow
@given(LOGITS, st.floats(0.01, 1.0), st.integers(0, 9))
def test_the_likeliest_token_always_stays(logits: list[float], p: float, k: int) -> None:
    narrowed = keep_top_p(keep_top_k(torch.tensor([logits]), k), p)
    assert narrowed.max() == torch.tensor(logits).max()


def test_each_row_of_a_batch_is_narrowed_alone() -> None:
    logits = torch.tensor([[3.0, 2.0, 1.0], [0.0, 5.0, 4.9]])
    assert keep_top_k(logits, 1).isfinite().tolist() == [[True, False, False], [False, True, False]]
    assert keep_top_p(logits, 0.6).isfinite().tolist() == [[True, False, False], [False, True, True]]


def test_temperature_zero_takes_the_likeliest() -> None:
    logits = torch.tensor([[0.1, 0.3, 0.2], [7.0, -1.0, 6.9]])
    assert sample_token(logits, DecodingSettings(temperature=0), torch.Generator()).tolist() == [1, 0]


@pytest.mark.parametrize("temperature", [1e-3, 1e-12, 1e-40, 1e-320])
def test_a_very_small_temperature_is_nearly_zero(temperature: float) -> None:
    logits = torch.tensor([[0.1, 0.3, 0.2], [7.0, -1.0, 6.8]])
    assert sample_token(
        logits, DecodingSettings(temperature=temperature), torch.Generator().manual_seed(3)
    ).tolist() == [1, 0]


@pytest.mark.spec(118)
@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        (DecodingSettings(temperature=1), [0.1, 0.2, 0.3, 0.4]),
        (DecodingSettings(temperature=0.5), [1 / 30, 4 / 30, 9 / 30, 16 / 30]),
        (DecodingSettings(temperature=1, top_k=2), [0, 0, 3 / 7, 4 / 7]),
        (DecodingSettings(temperature=1, top_p=0.65), [0, 0, 3 / 7, 4 / 7]),
        (DecodingSettings(temperature=0.5, top_p=0.9, top_k=3), [0, 4 / 29, 9 / 29, 16 / 29]),
    ],
)
def test_the_wheel_stops_as_often_as_the_distribution_says(
    settings: DecodingSettings, expected: list[float]
) -> None:
    draws = 20_000
    logits = torch.tensor([[0.1, 0.2, 0.3, 0.4]]).log().expand(draws, 4)
    counts = torch.bincount(
        sample_token(logits, settings, torch.Generator().manual_seed(1)), minlength=4
    ).tolist()
    assert [count == 0 for count in counts] == [share == 0 for share in expected]
    chi_square = sum(
        (count - share * draws) ** 2 / (share * draws)
        for count, share in zip(counts, expected, strict=True)
        if share
    )
    assert chi_square < 16.3  # one in a thousand with three degrees of freedom


@pytest.mark.spec(118)
def test_the_same_seed_draws_the_same() -> None:
    logits = torch.randn(50, 9, generator=torch.Generator().manual_seed(5))
    settings = DecodingSettings(temperature=1.3)
    first, again, other = (
        sample_token(logits, settings, torch.Generator().manual_seed(seed)).tolist() for seed in (7, 7, 8)
    )
    assert first == again != other
