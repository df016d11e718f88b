"""A score on parts of the data, as bars with intervals: where a model is good and where it is not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

from seqlab.pages.charts.interval_rows import Reach, interval_rows
from seqlab.pages.html import Markup, tag
from seqlab.pages.sections.base import ReportSection, report_sections


@dataclass(frozen=True)
class SlicePart:
    """One part of the data: how much is in it, and the score there, with its interval where there is one."""

    name: str
    count: int
    value: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class Cut:
    """One way to cut the data: along what, into which parts, and the score on everything."""

    by: str
    score: str
    unit: str
    parts: Sequence[SlicePart]
    whole: float | None = None


@report_sections.register("slices")
@dataclass(frozen=True)
class SlicedScores(ReportSection):
    """A score on parts of the data, cut in one or several ways."""

    kind = "slices"
    title = "Parts of the data"
    position = 56
    cuts: Sequence[Cut]

    @classmethod
    def from_json(cls, value: Any) -> Self:
        return cls([Cut(**{**cut, "parts": [SlicePart(**part) for part in cut["parts"]]}) for cut in value["cuts"]])

    def lines(self) -> list[str]:
        """One line for each part of the data, so that a weak one can be seen."""
        return [line for cut in self.cuts for line in _lines(cut)]

    def html(self) -> Markup | None:
        return slices_section(self.cuts) if self.cuts else None


def _lines(cut: Cut) -> list[str]:
    width = max(len(part.name) for part in cut.parts)
    lines = [f"    {cut.score.replace('_', ' ')} by {cut.by}:"]
    for part in cut.parts:
        interval = "" if part.low is None else f" [{part.low:.4f}, {part.high:.4f}]"
        lines.append(f"        {part.name:<{width}}  {part.value:.4f}{interval}  ({part.count:,} {cut.unit})")
    return lines


def slices_section(cuts: Sequence[Cut]) -> Markup:
    how = "The score on parts of the data, with 95 % intervals; the dashed line is the score on all. Few examples, a wide interval; very few, none."
    return tag("div", tag("p", how, class_="quiet"), tag("div", *[_figure(cut) for cut in cuts], class_="charts"))


def _figure(cut: Cut) -> Markup:
    name = f"{cut.score.replace('_', ' ')} by {cut.by}"
    rows = [Reach(part.name, part.value, part.low, part.high, note=f"({part.count:,})") for part in cut.parts]
    picture = interval_rows(rows, title=name, line=cut.whole, line_name="everything", with_bars=True)
    return tag("figure", tag("h3", name), picture, tag("figcaption", f"in brackets how many {cut.unit}", class_="quiet"), class_="chart-box")
