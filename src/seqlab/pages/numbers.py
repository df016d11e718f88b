"""Number formatting: few digits, and the same number of decimals in one line."""

from __future__ import annotations

import math
from collections.abc import Iterable


def format_number(value: float) -> str:
    """
    >>> format_number(1612802), format_number(0.87349), format_number(23.456), format_number(0.00002), format_number(float("nan"))
    ('1,612,802', '0.873', '23.46', '2.0e-05', 'not a number')
    """
    if isinstance(value, int):
        return f"{value:,}"
    return (
        format_fixed(value, choose_decimals([value]))
        if value == 0 or abs(value) >= 0.001 or not math.isfinite(value)
        else f"{value:.1e}"
    )


def format_fixed(value: float, decimals: int) -> str:
    """
    >>> format_fixed(0.5, 3), format_fixed(float("inf"), 3)
    ('0.500', '∞')
    """
    if math.isnan(value):
        return "not a number"
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    if abs(value) >= 1e9:
        return f"{value:.3e}"
    return f"{value:,.{decimals}f}"


def choose_decimals(values: Iterable[float]) -> int:
    """How many decimals show the values of one line with about four digits.

    >>> choose_decimals([0.87, 0.81]), choose_decimals([38.2, 9.1]), choose_decimals([1234.5])
    (3, 2, 0)
    """
    largest = max((abs(value) for value in values if math.isfinite(value)), default=0.0)
    if largest >= 1000:
        return 0
    return 1 if largest >= 100 else 2 if largest >= 10 else 3


def format_epochs(epochs: float) -> str:
    """
    >>> format_epochs(0.004), format_epochs(1.73)
    ('less than 0.1 epochs', '1.7 epochs')
    """
    return "less than 0.1 epochs" if epochs < 0.05 else f"{epochs:.1f} epochs"


def format_duration(seconds: float) -> str:
    """
    >>> format_duration(0.4), format_duration(75), format_duration(4000)
    ('0 s', '1 min 15 s', '1 h 07 min')
    """
    if not math.isfinite(seconds):
        return "unknown"
    whole = max(0, round(seconds))
    if whole < 60:
        return f"{whole} s"
    minutes = round(whole / 60)
    return (
        f"{whole // 60} min {whole % 60:02d} s"
        if whole < 3600
        else f"{minutes // 60} h {minutes % 60:02d} min"
    )


def format_minutes(minutes: float) -> str:
    """
    >>> format_minutes(0.034), format_minutes(12.34)
    ('0.03', '12.3')
    """
    return f"{minutes:.2f}" if minutes < 1 else f"{minutes:.1f}"


def format_difference(value: float, decimals: int) -> str:
    """A difference with the decimals of its line, or with more if it would round to zero.

    >>> format_difference(0.0429, 3), format_difference(0.00012, 3)
    ('0.043', '0.00012')
    """
    if 0 < abs(value) < 0.95 * 10**-decimals:
        decimals = 1 - math.floor(math.log10(abs(value)))  # two digits of it
    return format_fixed(value, decimals)


def format_probability(value: float) -> str:
    """
    >>> format_probability(0.98312), format_probability(0.99999), format_probability(0.00001), format_probability(1.0)
    ('0.983', '> 0.999', '< 0.001', '1.000')
    """
    if 0.9995 <= value < 1:
        return "> 0.999"
    return "< 0.001" if 0 < value < 0.0005 else format_fixed(value, 3)


def format_percent(share: float) -> str:
    """
    >>> format_percent(0.034), format_percent(0.5), format_percent(0.999)
    ('3.4%', '50%', '99.9%')
    """
    percentage = 100 * share
    return f"{percentage:.1f}%" if 0 < percentage < 10 or 99 < percentage < 100 else f"{percentage:.0f}%"


def count_of(number: int, noun: str) -> str:
    """
    >>> count_of(1, "thread"), count_of(1200, "row")
    ('1 thread', '1,200 rows')
    """
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def budget_of(minutes: float) -> str:
    """
    >>> budget_of(1.0), budget_of(0.5), budget_of(10.0)
    ('1 minute', '0.5 minutes', '10 minutes')
    """
    return f"{minutes:g} minute" if minutes == 1 else f"{minutes:g} minutes"
