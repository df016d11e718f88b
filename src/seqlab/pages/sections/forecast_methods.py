"""The network and every method without a network in one table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

from seqlab.pages.html import Markup, tag
from seqlab.pages.numbers import format_number
from seqlab.pages.sections.base import ReportSection, report_sections
from seqlab.pages.sections.forecast_errors import table


@dataclass(frozen=True)
class MethodLine:
    """The scores of one method; `verdict` compares the network with it."""

    name: str
    scores: Mapping[str, float]
    verdict: str = ""


@report_sections.register("forecast_methods")
@dataclass(frozen=True)
class ForecastMethods(ReportSection):
    """The network, then every method without a network; the first score is what the verdicts are about."""

    kind = "forecast_methods"
    title = "Forecasts without a network"
    position = 38
    unit: str
    baseline: str
    methods: Sequence[MethodLine]

    @classmethod
    def from_json(cls, value: Any) -> Self:
        return cls(**{**value, "methods": [MethodLine(**line) for line in value["methods"]]})

    def lines(self) -> list[str]:
        width = max(len(line.name) for line in self.methods)
        heads = "".join(f"{name:>11}" for name in self._names)
        lines = [f"    {'':<{width}}{heads}  network"]
        for line in self.methods:
            values = "".join(f"{format_number(line.scores[name]):>11}" for name in self._names)
            lines.append(f"    {line.name:<{width}}{values}  {line.verdict}".rstrip())
        return lines

    def html(self) -> Markup:
        explanation = (
            f"All methods forecast from the same origins; those without a network were fitted on the training part in"
            f" seconds. The baseline of the scores is {self.baseline}, which has the lowest error on the validation"
            f" part. MAE and RMSE are in units of {self.unit}; the last column compares the network's {self._names[0]}."
        )
        rows = [
            [line.name, *(format_number(line.scores[name]) for name in self._names), line.verdict]
            for line in self.methods
        ]
        return tag(
            "div",
            tag("p", explanation, class_="quiet"),
            table(["method", *self._names, "the network is"], rows),
        )

    @property
    def _names(self) -> list[str]:
        return list(self.methods[0].scores)
