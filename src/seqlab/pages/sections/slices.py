"""A score on parts of the data, as bars with intervals: where a model is good and where it is not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from seqlab.pages.charts.interval_rows import Reach, interval_rows
from seqlab.pages.html import Markup, tag


@dataclass(frozen=True)
class Cut:
    """One way to cut the data: along what, into which parts, and the score on everything."""

    by: str
    score: str
    unit: str
    parts: Sequence[Reach]
    whole: float | None = None


def slices_section(cuts: Sequence[Cut]) -> Markup:
    how = "The score on parts of the data, with 95 % intervals; the dashed line is the score on all. Few examples, a wide interval; very few, none."
    return tag("div", tag("p", how, class_="quiet"), tag("div", *[_figure(cut) for cut in cuts], class_="charts"))


def _figure(cut: Cut) -> Markup:
    name = f"{cut.score.replace('_', ' ')} by {cut.by}"
    picture = interval_rows(cut.parts, title=name, line=cut.whole, line_name="everything", with_bars=True)
    return tag("figure", tag("h3", name), picture, tag("figcaption", f"in brackets how many {cut.unit}", class_="quiet"), class_="chart-box")
