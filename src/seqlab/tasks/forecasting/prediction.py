"""A forecast of one series: the next times, each with a median and quantiles."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float

from seqlab.tasks.prediction import Prediction

BAND = (0.1, 0.9)
"""The band that lines show, if these levels are predicted."""


class ForecastStep(NamedTuple):
    """One time and one target of a forecast."""

    time: str
    target: str
    median: float
    quantiles: dict[str, float]
    """By level, as text: "0.1"."""


@dataclass(frozen=True)
class ForecastPrediction(Prediction):
    """The next steps of a series. The answer is the median of the first step, the ranking its band."""

    series: str
    """The name of the series; empty if there is only one."""
    times: tuple[str, ...]
    targets: tuple[str, ...]
    levels: tuple[float, ...]
    values: Float[np.ndarray, "horizon targets levels"]
    """The quantiles, in original units."""

    @property
    def median(self) -> Float[np.ndarray, "horizon targets"]:
        return self.values[..., self.levels.index(0.5)]

    @property
    def band(self) -> tuple[float, float]:
        """The two levels of the band in lines: 0.1 and 0.9, or the outermost ones."""
        return BAND if set(BAND) <= set(self.levels) else (self.levels[0], self.levels[-1])

    def steps(self) -> Iterator[ForecastStep]:
        """Yield every time and target."""
        for time, by_target, medians in zip(self.times, self.values, self.median, strict=True):
            for target, values, median in zip(self.targets, by_target, medians, strict=True):
                quantiles = {
                    f"{level:g}": float(value) for level, value in zip(self.levels, values, strict=True)
                }
                yield ForecastStep(time, target, float(median), quantiles)

    def to_json(self) -> dict[str, Any]:
        return {
            "input": self.input,
            "series": self.series,
            "forecast": [step._asdict() for step in self.steps()],
        }

    def to_line(self) -> str:
        """Return a line for every step: time, median and band, separated by tabs; with the target and the series, if
        there are several.
        """
        return "\n".join(self._lines())

    def to_lines(self) -> list[str]:
        """Return the input, then all quantiles of every step."""
        return [self.input, *(f"  {self._line(step)}\t{_all(step)}" for step in self.steps())]

    def _lines(self) -> Iterator[str]:
        low, high = self.band
        for step in self.steps():
            band = f"{number(step.quantiles[f'{low:g}'])} to {number(step.quantiles[f'{high:g}'])}"
            yield "\t".join([self._line(step), band, *([self.series] if self.series else [])])

    def _line(self, step: ForecastStep) -> str:
        names = [step.target] if len(self.targets) > 1 else []
        return "\t".join([step.time, *names, number(step.median)])

    def _repr_html_(self) -> str:
        names = [f"{level:g}" for level in self.levels]
        head = "".join(f"<th>{escape(name)}</th>" for name in ("time", "target", *names))
        rows = "".join(
            f"<tr><td>{escape(step.time)}</td><td>{escape(step.target)}</td>"
            + "".join(f"<td>{number(step.quantiles[name])}</td>" for name in names)
            + "</tr>"
            for step in self.steps()
        )
        title = f"<b>{escape(self.series)}</b>" if self.series else ""
        return f"{title}<table><tr>{head}</tr>{rows}</table>"


def number(value: float) -> str:
    """
    >>> number(3.14159), number(1234567.8)
    ('3.142', '1.235e+06')
    """
    return f"{value:.4g}"


def _all(step: ForecastStep) -> str:
    return "  ".join(f"{level}: {number(value)}" for level, value in step.quantiles.items())
