from __future__ import annotations

import itertools
import math

from hypothesis import assume, given
from hypothesis import strategies as st

from seqlab.pages.charts.ticks import log_ticks, round_range, tick_labels, ticks, widen_range

numbers = st.floats(-1e300, 1e300, allow_nan=False)
sizes = st.floats(1e-9, 1e9)


@given(numbers, numbers)
def test_ticks_lie_inside_the_range_in_even_round_steps(one: float, other: float) -> None:
    low, high = widen_range(min(one, other), max(one, other))
    found = ticks(low, high)
    room = 1e-6 * (high - low)
    assert 2 <= len(found) <= 6
    assert all(low - room <= tick <= high + room for tick in found)
    step = (found[-1] - found[0]) / (len(found) - 1)
    assert all(
        math.isclose(after - before, step, rel_tol=1e-3) for before, after in itertools.pairwise(found)
    )
    mantissa = step / 10 ** math.floor(math.log10(step) + 1e-4) if step > 1e-300 else 1.0
    assert min(abs(mantissa - digit) for digit in (1, 2, 5)) < 0.01


@given(st.floats(-1e6, 1e6), sizes)
def test_labels_of_different_ticks_differ_and_say_the_tick(low: float, size: float) -> None:
    assume(size > 1e-6 * abs(low))
    found = ticks(low, low + size)
    labels = tick_labels(found)
    assert len(set(labels)) == len(found)
    for tick, label in zip(found, labels, strict=True):
        assert math.isclose(float(label.replace(",", "")), tick, rel_tol=1e-9, abs_tol=1e-15)


@given(numbers, numbers)
def test_a_rounded_range_holds_the_range_and_ends_on_ticks(one: float, other: float) -> None:
    low, high = widen_range(min(one, other), max(one, other))
    left, right = round_range(low, high)
    room = 1e-6 * (high - low)
    assert left <= low + room
    assert right >= high - room
    assert right - left <= 2 * (high - low)


@given(st.floats(-250, 250), st.floats(0.05, 40))
def test_log_ticks_rise_inside_the_range(exponent: float, decades: float) -> None:
    low, high = 10**exponent, 10 ** (exponent + decades)
    found = log_ticks(low, high)
    assert 2 <= len(found) <= 10
    assert all(low * 0.999 <= tick <= high * 1.001 for tick in found)
    assert all(before < after for before, after in itertools.pairwise(found))
    assert len(set(tick_labels(found))) == len(found)


def test_many_decades_are_thinned_evenly() -> None:
    assert log_ticks(1e-12, 1.0) == [1e-12, 1e-10, 1e-8, 1e-6, 1e-4, 1e-2, 1.0]


def test_a_constant_has_an_axis_around_it() -> None:
    for constant in (0.0, 5.0, -3.5, 1e-12, 1e250):
        low, high = widen_range(constant, constant)
        assert low < constant < high
        assert len(ticks(constant, constant)) >= 2
