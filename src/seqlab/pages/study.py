"""The page of a study: the claim, what was found, the numbers, the curves."""

from __future__ import annotations

from collections.abc import Sequence

from seqlab.pages.charts.line_chart import line_chart
from seqlab.pages.html import Markup, tag
from seqlab.pages.numbers import number
from seqlab.pages.page import Section, page
from seqlab.pages.report_data import Curve

Row = dict[str, str | int | float]


def render_study(
    *,
    title: str,
    claim: str,
    found: str,
    rows: Sequence[Row],
    curves: Sequence[Curve] = (),
    pictures: Sequence[Markup] = (),
    notes: Sequence[str] = (),
    command: str = "",
    created: str = "",
) -> str:
    """The whole page as text; a part that is empty does not appear."""
    sections = [
        Section("found", "What was found", tag("div", tag("p", tag("b", found)), tag("p", tag("span", "The claim: ", class_="quiet"), claim)))
    ]
    if curves or pictures:
        drawn = [line_chart(curve, ident=f"curve-{index}") for index, curve in enumerate(curves, start=1)]
        sections.append(Section("curves", "Seen", tag("div", *pictures, *drawn, class_="charts")))
    if rows:
        sections.append(Section("numbers", "Numbers", number_table(rows)))
    if notes:
        sections.append(Section("how", "How it was measured", tag("ul", *[tag("li", note) for note in notes])))
    if command:
        sections.append(Section("again", "Run it again", tag("div", tag("code", command), class_="block command")))
    return page(title=title, subtitle="", created=created, notices=(), sections=sections)


def number_table(rows: Sequence[Row]) -> Markup:
    """Rows that share their columns; columns of numbers stand to the right."""
    names = list(rows[0])
    is_number = {name: all(not isinstance(row[name], str) for row in rows) for name in names}
    head = tag("tr", *[tag("th", name, scope="col", class_="num" if is_number[name] else None) for name in names])
    body = [tag("tr", *[tag("td", shown(row[name]), class_="num" if is_number[name] else None) for name in names]) for row in rows]
    return tag("div", tag("table", tag("thead", head), tag("tbody", *body)), class_="scroll")


def shown(value: str | int | float) -> str:
    """
    >>> shown("lstm"), shown(1240), shown(0.25), shown(3e-9)
    ('lstm', '1,240', '0.250', '3.0e-09')
    """
    return value if isinstance(value, str) else number(value)
