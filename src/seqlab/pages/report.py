"""The report of a run: one page with its scores, curves, mistakes, samples and recipe."""

from __future__ import annotations

from collections.abc import Sequence

from seqlab.pages.charts.line_chart import draw_line_chart
from seqlab.pages.html import Markup, join, tag, text
from seqlab.pages.page import Section, render_page
from seqlab.pages.report_data import LineChart, Report
from seqlab.pages.sections.examples import samples_section
from seqlab.pages.sections.scores import scores_section

MAX_RECIPE_CHARACTERS = 100_000


def render_report(report: Report) -> str:
    """The whole page as text; write it to a file and open it in any browser."""
    return render_page(
        title=report.title,
        subtitle=report.subtitle,
        created=report.created,
        notices=report.warnings,
        sections=_sections(report),
    )


def _sections(report: Report) -> list[Section]:
    """The nonempty sections, results first, then details."""
    sections: list[Section] = []
    if report.scores:
        sections.append(Section("scores", "Scores", scores_section(report.scores)))
    if report.summary:
        sections.append(Section("facts", "The run", _facts(report.summary)))
    if report.curves:
        sections.append(Section("curves", "Curves", _curves(report.curves)))
    if report.samples:
        sections.append(Section("samples", "Samples during training", samples_section(report.samples)))
    for section in sorted(report.sections, key=lambda section: section.position):
        if section.title and (body := section.html()) is not None:
            sections.append(Section(section.kind.replace("_", "-"), section.title, body))
    if report.recipe:
        sections.append(Section("recipe", "Recipe", _recipe(report.recipe)))
    if report.next_commands:
        sections.append(Section("next", "Next steps", _commands(report.next_commands)))
    return sections


def _facts(summary: Sequence[tuple[str, str]]) -> Markup:
    return tag(
        "dl", *[tag("div", tag("dt", name), tag("dd", value)) for name, value in summary], class_="facts"
    )


def _curves(curves: Sequence[LineChart]) -> Markup:
    return tag(
        "div",
        *[draw_line_chart(curve, ident=f"curve-{index}") for index, curve in enumerate(curves, start=1)],
        class_="charts",
    )


def _recipe(recipe: str) -> Markup:
    lines = [_recipe_line(line) for line in text(recipe, limit=MAX_RECIPE_CHARACTERS).split("\n")]
    return tag("div", tag("code", join(lines, "\n")), class_="block recipe")


def _recipe_line(line: str) -> Markup:
    """Highlight section names and dim comments. The line is already escaped."""
    style = "toml-head" if line.startswith("[") else "quiet" if line.startswith("#") else None
    return tag("span", Markup(line), class_=style) if style else Markup(line)


def _commands(commands: Sequence[str]) -> Markup:
    return tag("div", *[tag("div", tag("code", command), class_="block command") for command in commands])
