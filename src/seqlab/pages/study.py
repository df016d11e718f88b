"""The page of a study: the claim, the finding, the numbers and the charts."""

from __future__ import annotations

from collections.abc import Sequence

from seqlab.pages.charts.line_chart import draw_line_chart
from seqlab.pages.html import Markup, tag
from seqlab.pages.numbers import format_number
from seqlab.pages.page import Section, render_page
from seqlab.pages.report_data import LineChart

Row = dict[str, str | int | float]


def render_study(
    *,
    title: str,
    claim: str,
    conclusion: str,
    rows: Sequence[Row],
    curves: Sequence[LineChart] = (),
    figures: Sequence[Markup] = (),
    notes: Sequence[str] = (),
    command: str = "",
    created: str = "",
) -> str:
    """The whole page as text; empty parts do not appear."""
    sections = [
        Section(
            "found",
            "Result",
            tag(
                "div",
                tag("p", tag("b", conclusion)),
                tag("p", tag("span", "The claim: ", class_="quiet"), claim),
            ),
        )
    ]
    if curves or figures:
        charts = [
            draw_line_chart(curve, ident=f"curve-{index}") for index, curve in enumerate(curves, start=1)
        ]
        sections.append(Section("curves", "Figures", tag("div", *figures, *charts, class_="charts")))
    if rows:
        sections.append(Section("numbers", "Numbers", number_table(rows)))
    if notes:
        sections.append(Section("how", "Method", tag("ul", *[tag("li", note) for note in notes])))
    if command:
        sections.append(
            Section("again", "Reproduce", tag("div", tag("code", command), class_="block command"))
        )
    return render_page(title=title, subtitle="", created=created, notices=(), sections=sections)


def number_table(rows: Sequence[Row]) -> Markup:
    """A table of rows with the same columns; numbers are right-aligned."""
    names = list(rows[0])
    is_number = {name: all(not isinstance(row[name], str) for row in rows) for name in names}
    head = tag(
        "tr", *[tag("th", name, scope="col", class_="num" if is_number[name] else None) for name in names]
    )
    body = [
        tag(
            "tr",
            *[
                tag("td", format_value(row[name]), class_="num" if is_number[name] else None)
                for name in names
            ],
        )
        for row in rows
    ]
    return tag("div", tag("table", tag("thead", head), tag("tbody", *body)), class_="scroll")


def format_value(value: str | int | float) -> str:
    """
    >>> format_value("lstm"), format_value(1240), format_value(0.25), format_value(3e-9)
    ('lstm', '1,240', '0.250', '3.0e-09')
    """
    return value if isinstance(value, str) else format_number(value)
