"""Student's t against its printed table, and the summary of a few runs against statistics."""

from __future__ import annotations

import statistics

import pytest

from seqlab.metrics.seeds import student_t_quantile, summarize_seeds


@pytest.mark.parametrize(
    ("freedom", "expected"),
    [(1, 12.7062), (2, 4.3027), (3, 3.1824), (4, 2.7764), (9, 2.2622), (29, 2.0452), (120, 1.9799)],
)
def test_quantiles_are_those_of_the_printed_table(freedom: int, expected: float) -> None:
    assert student_t_quantile(0.975, freedom) == pytest.approx(expected, abs=6e-5)


def test_five_seeds_have_mean_deviation_and_interval() -> None:
    values = [0.81, 0.84, 0.79, 0.83, 0.80]
    found = summarize_seeds(values)
    reach = 2.7764 * statistics.stdev(values) / 5**0.5
    assert found.mean == pytest.approx(0.814)
    assert found.deviation == pytest.approx(statistics.stdev(values))
    assert (found.low, found.high) == pytest.approx((0.814 - reach, 0.814 + reach), abs=1e-5)


def test_one_run_shows_no_spread() -> None:
    found = summarize_seeds([0.5])
    assert (found.mean, found.deviation, found.low, found.high) == (0.5, None, None, None)
