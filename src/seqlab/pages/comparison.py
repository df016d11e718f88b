"""The page of a model comparison: which is better and whether that is significant, then scores, agreement
and examples.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from seqlab.pages.charts.interval_rows import IntervalRow, draw_interval_rows
from seqlab.pages.charts.line_chart import draw_line_chart
from seqlab.pages.html import Markup, tag, text
from seqlab.pages.page import Section, render_page
from seqlab.pages.report_data import LineChart
from seqlab.pages.sections.by_length import LengthChart, by_length_section

MAX_EXAMPLE_CHARACTERS = 700


@dataclass(frozen=True)
class ScoreComparison:
    """One score of all compared models."""

    score: str
    higher_is_better: bool
    models: Sequence[IntervalRow]
    baseline: float | None = None
    baseline_name: str = ""
    interval: str = "95% CI over examples"
    """What the bars are."""


@dataclass(frozen=True)
class ScoreDifference:
    """The difference between a model and the reference in one score; no interval if there are too few
    items.
    """

    score: str
    name: str
    value: float
    low: float | None
    high: float | None
    p: float
    is_significant: bool


@dataclass(frozen=True)
class Agreement:
    """McNemar's counts of a model against the reference."""

    name: str
    both: int
    only_reference: int
    only_model: int
    neither: int
    p: float


@dataclass(frozen=True)
class DisagreementExample:
    """An example on which the models disagree."""

    where: str
    text: str
    truth: str
    answers: Mapping[str, str]


@dataclass(frozen=True)
class ComparisonPage:
    """The data of a comparison. Empty parts do not appear on the page."""

    title: str
    reference: str
    subtitle: str = ""
    created: str = ""
    findings: Sequence[str] = ()
    warnings: Sequence[str] = ()
    scores: Sequence[ScoreComparison] = ()
    differences: Sequence[ScoreDifference] = ()
    table: Sequence[Mapping[str, str]] = ()
    settings: Sequence[Mapping[str, str]] = ()
    """The settings in which the models differ."""
    agreements: Sequence[Agreement] = ()
    examples: Sequence[DisagreementExample] = ()
    num_disagreements: int = 0
    curves: Sequence[LineChart] = ()
    by_length: LengthChart | None = None
    command: str = ""


def render_comparison(comparison: ComparisonPage) -> str:
    """The whole page as text."""
    return render_page(
        title=comparison.title,
        subtitle=comparison.subtitle,
        created=comparison.created,
        notices=comparison.warnings,
        sections=list(_sections(comparison)),
    )


def _sections(comparison: ComparisonPage) -> Iterator[Section]:
    if comparison.findings:
        yield Section(
            "answer",
            "The answer",
            tag("div", *[tag("p", tag("b", finding)) for finding in comparison.findings]),
        )
    if comparison.scores:
        yield Section(
            "scores",
            "Scores",
            tag("div", *[_draw_scores(scores) for scores in comparison.scores], class_="charts"),
        )
    if comparison.differences:
        yield Section("differences", "Differences", _differences(comparison))
    if comparison.table:
        yield Section("table", "Table", _table(comparison.table))
    if comparison.settings:
        yield Section("settings", "Different settings", _table(comparison.settings))
    if comparison.by_length:
        yield Section("lengths", "Scores by source length", by_length_section(comparison.by_length))
    if comparison.curves:
        drawn = [
            draw_line_chart(curve, ident=f"curve-{index}")
            for index, curve in enumerate(comparison.curves, start=1)
        ]
        yield Section("curves", "Training curves", tag("div", *drawn, class_="charts"))
    if comparison.agreements:
        yield Section("agreement", "Agreement", _agreement(comparison))
    if comparison.examples:
        yield Section("examples", "Disagreements", _examples(comparison))
    if comparison.command:
        yield Section(
            "again", "Reproduce", tag("div", tag("code", comparison.command), class_="block command")
        )


def _draw_scores(scores: ScoreComparison) -> Markup:
    better = "higher is better" if scores.higher_is_better else "lower is better"
    name = scores.score.replace("_", " ")
    baseline_note = (
        f"; the dashed line is {scores.baseline_name} {scores.baseline:.4f}"
        if scores.baseline is not None
        else ""
    )
    svg = draw_interval_rows(
        scores.models, title=name, reference=scores.baseline, reference_name=scores.baseline_name
    )
    caption = tag("figcaption", f"{better}; bars: {scores.interval}{baseline_note}", class_="quiet")
    return tag("figure", tag("h3", name), svg, caption, class_="chart-box")


def _differences(comparison: ComparisonPage) -> Markup:
    figures = []
    for score in dict.fromkeys(difference.score for difference in comparison.differences):
        rows = [
            IntervalRow(
                difference.name,
                difference.value,
                difference.low,
                difference.high,
                note=_significance_note(difference),
            )
            for difference in comparison.differences
            if difference.score == score
        ]
        name = score.replace("_", " ")
        figures.append(
            tag(
                "figure",
                tag("h3", name),
                draw_interval_rows(rows, title=f"{name}: differences", reference=0.0),
                class_="chart-box",
            )
        )
    explanation = (
        f"Improvement over {comparison.reference} on the same examples; right of the line is better."
        " Paired bootstrap, p-values with Holm correction."
    )
    return tag("div", tag("p", explanation, class_="quiet"), tag("div", *figures, class_="charts"))


def _significance_note(difference: ScoreDifference) -> str:
    if difference.low is None:
        return "too few items for a test"
    p = f"p = {difference.p:.3f}" if difference.p >= 0.0005 else f"p = {difference.p:.1g}"
    return p if difference.is_significant else f"{p}, not significant"


def _unbroken(cell: str) -> str:
    """An interval stays on one line, below its value in a narrow column.

    >>> _unbroken("0.41 [0.40, 0.46]")
    '0.41 [0.40,\xa00.46]'
    """
    return cell.replace(", ", ",\N{NO-BREAK SPACE}") if cell.endswith("]") else cell


def _table(rows: Sequence[Mapping[str, str]]) -> Markup:
    names = list(rows[0])
    head = tag("tr", *[tag("th", name.replace("_", " "), scope="col") for name in names])
    body = [
        tag(
            "tr",
            *[tag("th" if column == 0 else "td", _unbroken(row[name])) for column, name in enumerate(names)],
        )
        for row in rows
    ]
    return tag("div", tag("table", tag("thead", head), tag("tbody", *body)), class_="scroll")


def _agreement(comparison: ComparisonPage) -> Markup:
    heads = [
        "compared with " + comparison.reference,
        "both right",
        f"only {comparison.reference}",
        "only the other",
        "neither",
        "McNemar's p",
    ]
    head = tag(
        "tr",
        *[
            tag("th", name, scope="col", class_="num" if column else None)
            for column, name in enumerate(heads)
        ],
    )
    body = []
    for agreement in comparison.agreements:
        numbers = [
            f"{count:,}"
            for count in (agreement.both, agreement.only_reference, agreement.only_model, agreement.neither)
        ]
        body.append(
            tag(
                "tr",
                tag("th", agreement.name),
                *[tag("td", number, class_="num") for number in [*numbers, f"{agreement.p:.2g}"]],
            )
        )
    return tag("div", tag("table", tag("thead", head), tag("tbody", *body)), class_="scroll")


def _examples(comparison: ComparisonPage) -> Markup:
    note = (
        f"Showing the first {len(comparison.examples)} of {comparison.num_disagreements:,}."
        if len(comparison.examples) < comparison.num_disagreements
        else ""
    )
    return tag(
        "div",
        tag("p", note, class_="quiet"),
        tag("ol", *[_example(example) for example in comparison.examples], class_="examples"),
    )


def _example(example: DisagreementExample) -> Markup:
    predictions = [
        tag(
            "span",
            f"{name} ",
            tag("b", tag("bdi", answer)),
            class_="is-true" if answer == example.truth else "is-wrong",
        )
        for name, answer in example.answers.items()
    ]
    truth = tag("span", "truth ", tag("b", tag("bdi", example.truth)))
    example_text = tag("div", text(example.text, limit=MAX_EXAMPLE_CHARACTERS), class_="text", dir="auto")
    return tag(
        "li",
        example_text,
        tag(
            "div", truth, *predictions, tag("span", example.where, class_="quiet where"), class_="facts-line"
        ),
    )
