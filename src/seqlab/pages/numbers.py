"""Numbers the way a reader wants them: few digits, the same number of decimals in one line."""

from __future__ import annotations

import math
from collections.abc import Iterable


def number(value: float) -> str:
    """
    >>> number(1612802), number(0.87349), number(23.456), number(0.00002), number(float("nan"))
    ('1,612,802', '0.873', '23.46', '2.0e-05', 'not a number')
    """
    if isinstance(value, int):
        return f"{value:,}"
    return fixed(value, decimals_for([value])) if value == 0 or abs(value) >= 0.001 or not math.isfinite(value) else f"{value:.1e}"


def fixed(value: float, decimals: int) -> str:
    """
    >>> fixed(0.5, 3), fixed(float("inf"), 3)
    ('0.500', '∞')
    """
    if math.isnan(value):
        return "not a number"
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    if abs(value) >= 1e9:
        return f"{value:.3e}"
    return f"{value:,.{decimals}f}"


def decimals_for(values: Iterable[float]) -> int:
    """How many decimals show the values of one line with about four digits.

    >>> decimals_for([0.87, 0.81]), decimals_for([38.2, 9.1]), decimals_for([1234.5])
    (3, 2, 0)
    """
    largest = max((abs(value) for value in values if math.isfinite(value)), default=0.0)
    if largest >= 1000:
        return 0
    return 1 if largest >= 100 else 2 if largest >= 10 else 3


def difference(gap: float, decimals: int) -> str:
    """A difference with the decimals of its line, or with more of them when it would vanish.

    >>> difference(0.0429, 3), difference(0.00012, 3)
    ('0.043', '0.00012')
    """
    if 0 < abs(gap) < 0.95 * 10**-decimals:
        decimals = 1 - math.floor(math.log10(abs(gap)))  # two digits of it
    return fixed(gap, decimals)


def probability(value: float) -> str:
    """
    >>> probability(0.98312), probability(0.99999), probability(0.00001), probability(1.0)
    ('0.983', '> 0.999', '< 0.001', '1.000')
    """
    if 0.9995 <= value < 1:
        return "> 0.999"
    return "< 0.001" if 0 < value < 0.0005 else fixed(value, 3)


def percent(share: float) -> str:
    """
    >>> percent(0.034), percent(0.5), percent(0.999)
    ('3.4 %', '50 %', '99.9 %')
    """
    hundred = 100 * share
    return f"{hundred:.1f} %" if 0 < hundred < 10 or 99 < hundred < 100 else f"{hundred:.0f} %"
