"""The data report as a page: sizes, lengths, labels, and problems such as leakage that could invalidate
scores.
"""

from __future__ import annotations

from collections.abc import Iterator

from seqlab.pages.charts.confusion_matrix import abbreviate
from seqlab.pages.html import Markup, tag
from seqlab.pages.numbers import format_number, format_percent
from seqlab.pages.page import Section, render_page
from seqlab.sources.survey.report import PartSurvey, Quantiles, Survey

MAX_LABELS = 200


def render_survey(survey: Survey, *, title: str, subtitle: str = "", created: str = "") -> str:
    """The whole page as text; empty sections do not appear."""
    return render_page(
        title=title,
        subtitle=subtitle,
        created=created,
        notices=survey.warnings,
        sections=list(_sections(survey)),
    )


def _sections(survey: Survey) -> Iterator[Section]:
    if survey.parts:
        yield Section("parts", "Parts", _parts(survey))
    if any(part.length_characters for part in survey.parts.values()):
        yield Section("lengths", "Lengths", _lengths(survey))
    if any(part.labels for part in survey.parts.values()):
        yield Section("labels", "Labels", _labels(survey))
    if any(
        part.first_leaks or part.first_plain_leaks or part.first_near_leaks for part in survey.parts.values()
    ):
        yield Section("leaks", "Leaks", _leaks(survey))
    if any(part.first_skipped for part in survey.parts.values()):
        yield Section("skipped", "Skipped rows", _skipped(survey))


def _table(heads: list[str], rows: list[Markup], *, words: int = 1) -> Markup:
    """A table whose first columns hold text and the others numbers."""
    head = tag(
        "tr",
        *[
            tag("th", name, scope="col", class_="num" if index >= words else None)
            for index, name in enumerate(heads)
        ],
    )
    return tag("div", tag("table", tag("thead", head), tag("tbody", *rows)), class_="scroll")


def _number_row(name: str, *values: str) -> Markup:
    return tag(
        "tr", tag("th", tag("bdi", name), scope="row"), *[tag("td", value, class_="num") for value in values]
    )


def _parts(survey: Survey) -> Markup:
    heads = [
        "part",
        "rows",
        "characters",
        "labels",
        "most frequent label",
        "empty",
        "repeated",
        "also in train",
        "skipped",
    ]
    return _table(heads, [_part_row(name, part) for name, part in survey.parts.items()])


def _part_row(name: str, part: PartSurvey) -> Markup:
    counts = (part.empty, part.duplicates, part.leaks, part.skipped)
    balance = format_percent(part.balance) if part.labels else "–"
    labels = f"{len(part.labels):,}" if part.labels else "–"
    return _number_row(
        name, f"{part.rows:,}", f"{part.characters:,}", labels, balance, *[f"{count:,}" for count in counts]
    )


def _lengths(survey: Survey) -> Markup:
    rows = []
    for name, part in survey.parts.items():
        for unit, lengths in (("characters", part.length_characters), ("words", part.length_words)):
            if lengths is not None:
                rows.append(_length_row(name, unit, lengths))
    return _table(
        ["part", "unit", "shortest", "10%", "median", "90%", "99%", "longest", "mean"], rows, words=2
    )


def _length_row(name: str, unit: str, lengths: Quantiles) -> Markup:
    values = (
        lengths.smallest,
        lengths.tenth,
        lengths.median,
        lengths.ninetieth,
        lengths.ninety_ninth,
        lengths.largest,
    )
    cells = [tag("td", f"{value:,}", class_="num") for value in values]
    return tag(
        "tr",
        tag("th", name, scope="row"),
        tag("td", unit),
        *cells,
        tag("td", format_number(lengths.mean), class_="num"),
    )


def _labels(survey: Survey) -> Markup:
    """How often each label occurs in each part, the most frequent first, with its share as a bar."""
    names = list(survey.parts)
    totals: dict[str, int] = {}
    for part in survey.parts.values():
        for label, count in part.labels.items():
            totals[label] = totals.get(label, 0) + count
    ordered = sorted(totals, key=lambda label: (-totals[label], label))
    rows = [_label_row(label, survey) for label in ordered[:MAX_LABELS]]
    note = f"Showing the first {MAX_LABELS} of {len(ordered):,} labels." if len(ordered) > MAX_LABELS else ""
    table = _table(["label", *names], rows)
    return (
        tag("div", tag("p", note, class_="quiet"), table, class_="classes")
        if note
        else tag("div", table, class_="classes")
    )


def _label_row(label: str, survey: Survey) -> Markup:
    cells = []
    for part in survey.parts.values():
        count = part.labels.get(label, 0)
        share = count / sum(part.labels.values()) if count else 0.0
        style = f"--share: {100 * share:.1f}%"
        cells.append(
            tag(
                "td",
                tag("span", f"{count:,} ", tag("span", format_percent(share), class_="quiet")),
                class_="num meter",
                style=style,
            )
        )
    label_cell = tag("bdi", abbreviate(label, 60)) if label else tag("span", "(empty)", class_="quiet")
    return tag("tr", tag("th", label_cell, scope="row"), *cells)


def _leaks(survey: Survey) -> Markup:
    rows = [
        tag("tr", tag("td", name), tag("td", leak.where), tag("td", leak.also), tag("td", how))
        for name, part in survey.parts.items()
        for leaks, how in (
            (part.first_leaks, "equal"),
            (part.first_plain_leaks, "ignoring case, punctuation and whitespace"),
        )
        for leak in leaks
    ]
    rows += [
        tag(
            "tr",
            tag("td", name),
            tag("td", leak.where),
            tag("td", leak.also),
            tag("td", f"{format_percent(leak.likeness)} similar"),
        )
        for name, part in survey.parts.items()
        for leak in part.first_near_leaks
    ]
    return _table(["part", "this row", "row in train", "match"], rows, words=4)


def _skipped(survey: Survey) -> Markup:
    rows = [
        tag("tr", tag("td", name), tag("td", message))
        for name, part in survey.parts.items()
        for message in part.first_skipped
    ]
    return _table(["part", "reason"], rows, words=2)
