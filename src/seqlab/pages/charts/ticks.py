"""Round numbers along an axis: steps of 1, 2 or 5 times a power of ten."""

from __future__ import annotations

import math
from collections.abc import Sequence

# Beyond this a difference of two values could overflow, below the other a logarithm loses its digits.
MAX_MAGNITUDE, MIN_POSITIVE = 1e300, 1e-300


def is_drawable(value: float, *, log: bool = False) -> bool:
    """Whether a value has a place on an axis.

    >>> is_drawable(-2.0), is_drawable(-2.0, log=True), is_drawable(float("nan"))
    (True, False, False)
    """
    return math.isfinite(value) and abs(value) <= MAX_MAGNITUDE and (value >= MIN_POSITIVE or not log)


def round_step(span: float, count: int) -> float:
    """The smallest of 1, 2, 5 times a power of ten that divides a span into at most `count` steps.

    >>> round_step(10.0, 5), round_step(0.7, 5), round_step(30.0, 5)
    (2.0, 0.2, 10.0)
    """
    rough = span / count
    power = math.floor(math.log10(rough))
    for digit, exponent in ((1, power), (2, power), (5, power), (1, power + 1), (2, power + 1)):
        step = float(f"{digit}e{exponent}")  # read from text: the nearest float to the decimal number
        if step >= rough * (1 - 1e-9):
            return step
    raise AssertionError(f"no step for {span} in {count}")


def widen_range(low: float, high: float) -> tuple[float, float]:
    """A nonempty range: a constant gets a margin on both sides.

    >>> widen_range(3.0, 3.0), widen_range(0.0, 0.0), widen_range(1.0, 2.0)
    ((2.7, 3.3), (-1.0, 1.0), (1.0, 2.0))
    """
    size = max(abs(low), abs(high))
    if high - low > max(1e-9 * size, 1e-290):
        return low, high
    padding = 0.1 * size if size > 1e-280 else 1.0
    return low - padding, high + padding


def ticks(low: float, high: float, *, count: int = 5, whole: bool = False) -> list[float]:
    """The multiples of a round step inside a range. whole: no fractions, for an axis of counts.

    >>> ticks(0.0, 1.0), ticks(3.0, 47.0)
    ([0.0, 0.2, 0.4, 0.6, 0.8, 1.0], [10.0, 20.0, 30.0, 40.0])
    >>> ticks(1.0, 3.0, whole=True)
    [1.0, 2.0, 3.0]
    """
    low, high = widen_range(low, high)
    step = max(round_step(high - low, count), 1.0 if whole else 0.0)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    # The decimal text, not k * step: 3 * 0.1 is not 0.3.
    return [_multiple(k, step) for k in range(first, last + 1)]


def round_range(low: float, high: float, *, count: int = 5) -> tuple[float, float]:
    """The range widened to the ticks around it, so that an axis ends on a tick.

    >>> round_range(0.13, 0.94)
    (0.0, 1.0)
    """
    low, high = widen_range(low, high)
    step = round_step(high - low, count)
    return _multiple(math.floor(low / step + 1e-9), step), _multiple(math.ceil(high / step - 1e-9), step)


def _multiple(k: int, step: float) -> float:
    digit, exponent = f"{step:.0e}".split("e")
    return float(f"{k * int(digit)}e{exponent}")


def log_ticks(low: float, high: float, *, count: int = 6) -> list[float]:
    """Powers of ten inside a positive range; with 2 and 5 between them when they are few, thinned when they
    are many.

    >>> log_ticks(0.5, 20.0), log_ticks(1.4, 1.9), log_ticks(1e-9, 1.0)
    ([0.5, 1.0, 2.0, 5.0, 10.0, 20.0], [1.4, 1.5, 1.6, 1.7, 1.8, 1.9], [1e-09, 1e-07, 1e-05, 0.001, 0.1])
    """
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    every = max(1, math.ceil((last - first) / count))
    powers = range(first, last + 1, every)
    digits = (1, 2, 5) if last - first <= 3 else (1,)
    candidates = [float(f"{digit}e{power}") for power in powers for digit in digits]
    inside = [value for value in candidates if low * (1 - 1e-9) <= value <= high * (1 + 1e-9)]
    return inside if len(inside) >= 3 else ticks(low, high)


def tick_labels(values: Sequence[float]) -> list[str]:
    """
    >>> tick_labels([0.0, 0.05, 0.1]), tick_labels([0.0, 2000.0]), tick_labels([1.0, 10.0, 100.0]), tick_labels([0.0, 2e6, 4e6])
    (['0.00', '0.05', '0.10'], ['0', '2,000'], ['1', '10', '100'], ['0', '2e6', '4e6'])
    """
    is_even = len(values) < 3 or math.isclose(values[1] - values[0], values[-1] - values[-2], rel_tol=1e-6)
    if not is_even:
        return [_short(value) for value in values]
    step = values[1] - values[0] if len(values) > 1 else abs(values[0]) if values and values[0] else 1.0
    largest = max((abs(value) for value in values), default=0.0)
    digit_position = math.floor(math.log10(step) + 1e-6)
    if largest >= 1e6 or digit_position < -4:
        return [
            _short(value, digits=max(0, math.floor(math.log10(largest) + 1e-6) - digit_position))
            for value in values
        ]
    return [f"{value:,.{max(0, -digit_position)}f}" for value in values]


def _short(value: float, digits: int = 0) -> str:
    """A number on its own: plain while it is short, with a power of ten when it is not."""
    if value == 0:
        return "0"
    if digits == 0 and 1e-3 <= abs(value) < 1e6:
        return f"{value:,.10f}".rstrip("0").rstrip(".")
    mantissa, exponent = f"{value:.{digits}e}".split("e")
    mantissa = mantissa.rstrip("0").rstrip(".") if "." in mantissa else mantissa
    return f"{mantissa}e{int(exponent)}"
