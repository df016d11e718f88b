"""The page of a comparison: who is better and whether that is more than chance, then the scores, the agreement, the examples."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from seqlab.pages.charts.interval_rows import Reach, interval_rows
from seqlab.pages.charts.line_chart import line_chart
from seqlab.pages.html import Markup, tag, text
from seqlab.pages.page import Section, page
from seqlab.pages.report_data import Curve
from seqlab.pages.sections.by_length import LengthChart, by_length_section

LONGEST_EXAMPLE = 700


@dataclass(frozen=True)
class Standing:
    """One score of all competitors."""

    score: str
    higher_is_better: bool
    competitors: Sequence[Reach]
    baseline: float | None = None
    baseline_name: str = ""
    interval: str = "95 % interval over examples"
    """What the bars are."""


@dataclass(frozen=True)
class Contrast:
    """How much better a competitor is than the reference in one score; without an interval there were too few items to tell."""

    score: str
    name: str
    value: float
    low: float | None
    high: float | None
    p: float
    is_shown: bool


@dataclass(frozen=True)
class Agreement:
    """McNemar's counts of a competitor beside the reference."""

    name: str
    both: int
    only_reference: int
    only_competitor: int
    neither: int
    p: float


@dataclass(frozen=True)
class DisputedExample:
    """An example that competitors answer differently."""

    where: str
    text: str
    truth: str
    answers: Mapping[str, str]


@dataclass(frozen=True)
class ComparisonPage:
    """Everything a comparison has to tell. A part that is empty does not appear on the page."""

    title: str
    reference: str
    subtitle: str = ""
    created: str = ""
    sentences: Sequence[str] = ()
    warnings: Sequence[str] = ()
    standings: Sequence[Standing] = ()
    contrasts: Sequence[Contrast] = ()
    table: Sequence[Mapping[str, str]] = ()
    agreements: Sequence[Agreement] = ()
    examples: Sequence[DisputedExample] = ()
    num_disputed: int = 0
    curves: Sequence[Curve] = ()
    by_length: LengthChart | None = None
    command: str = ""


def render_comparison(found: ComparisonPage) -> str:
    """The whole page as text."""
    return page(title=found.title, subtitle=found.subtitle, created=found.created, notices=found.warnings, sections=list(_sections(found)))


def _sections(found: ComparisonPage) -> Iterator[Section]:
    if found.sentences:
        yield Section("answer", "The answer", tag("div", *[tag("p", tag("b", sentence)) for sentence in found.sentences]))
    if found.standings:
        yield Section("scores", "Scores", tag("div", *[_standing(one) for one in found.standings], class_="charts"))
    if found.contrasts:
        yield Section("differences", "Differences", _differences(found))
    if found.table:
        yield Section("table", "Table", _table(found.table))
    if found.by_length:
        yield Section("lengths", "By length of the source", by_length_section(found.by_length))
    if found.curves:
        drawn = [line_chart(curve, ident=f"curve-{index}") for index, curve in enumerate(found.curves, start=1)]
        yield Section("curves", "While training", tag("div", *drawn, class_="charts"))
    if found.agreements:
        yield Section("agreement", "Agreement", _agreement(found))
    if found.examples:
        yield Section("examples", "Where they disagree", _examples(found))
    if found.command:
        yield Section("again", "Run it again", tag("div", tag("code", found.command), class_="block command"))


def _standing(standing: Standing) -> Markup:
    better = "higher is better" if standing.higher_is_better else "lower is better"
    name = standing.score.replace("_", " ")
    beside = f"; the dashed line is {standing.baseline_name} {standing.baseline:.4f}" if standing.baseline is not None else ""
    picture = interval_rows(standing.competitors, title=name, line=standing.baseline, line_name=standing.baseline_name)
    words = tag("figcaption", f"{better}; bar: {standing.interval}{beside}", class_="quiet")
    return tag("figure", tag("h3", name), picture, words, class_="chart-box")


def _differences(found: ComparisonPage) -> Markup:
    figures = []
    for score in dict.fromkeys(one.score for one in found.contrasts):
        rows = [Reach(one.name, one.value, one.low, one.high, note=_chance(one)) for one in found.contrasts if one.score == score]
        name = score.replace("_", " ")
        figures.append(tag("figure", tag("h3", name), interval_rows(rows, title=f"{name}: differences", line=0.0), class_="chart-box"))
    how = f"How much better than {found.reference}, on the same examples: right of the line is better. Paired bootstrap, p-values after Holm."
    return tag("div", tag("p", how, class_="quiet"), tag("div", *figures, class_="charts"))


def _chance(one: Contrast) -> str:
    if one.low is None:
        return "too few items to tell"
    p = f"p = {one.p:.3f}" if one.p >= 0.0005 else f"p = {one.p:.1g}"
    return p if one.is_shown else f"{p}, may be chance"


def _table(rows: Sequence[Mapping[str, str]]) -> Markup:
    names = list(rows[0])
    head = tag("tr", *[tag("th", name.replace("_", " "), scope="col") for name in names])
    body = [tag("tr", *[tag("th" if place == 0 else "td", row[name]) for place, name in enumerate(names)]) for row in rows]
    return tag("div", tag("table", tag("thead", head), tag("tbody", *body)), class_="scroll")


def _agreement(found: ComparisonPage) -> Markup:
    heads = ["beside " + found.reference, "both right", f"only {found.reference}", "only the other", "neither", "McNemar's p"]
    head = tag("tr", *[tag("th", name, scope="col", class_="num" if place else None) for place, name in enumerate(heads)])
    body = []
    for one in found.agreements:
        numbers = [f"{count:,}" for count in (one.both, one.only_reference, one.only_competitor, one.neither)]
        body.append(tag("tr", tag("th", one.name), *[tag("td", number, class_="num") for number in [*numbers, f"{one.p:.2g}"]]))
    return tag("div", tag("table", tag("thead", head), tag("tbody", *body)), class_="scroll")


def _examples(found: ComparisonPage) -> Markup:
    note = f"The first {len(found.examples)} of {found.num_disputed:,}." if len(found.examples) < found.num_disputed else ""
    return tag("div", tag("p", note, class_="quiet"), tag("ol", *[_example(one) for one in found.examples], class_="examples"))


def _example(one: DisputedExample) -> Markup:
    said = [
        tag("span", f"{name} ", tag("b", tag("bdi", answer)), class_="is-true" if answer == one.truth else "is-wrong")
        for name, answer in one.answers.items()
    ]
    truth = tag("span", "truth ", tag("b", tag("bdi", one.truth)))
    words = tag("div", text(one.text, limit=LONGEST_EXAMPLE), class_="text", dir="auto")
    return tag("li", words, tag("div", truth, *said, tag("span", one.where, class_="quiet where"), class_="facts-line"))
