"""The page of a comparison and the pictures of intervals."""

from __future__ import annotations

import re

from seqlab.pages.charts.interval_rows import IntervalRow, draw_interval_rows
from seqlab.pages.comparison import (
    Agreement,
    ComparisonPage,
    DisagreementExample,
    ScoreComparison,
    ScoreDifference,
    render_comparison,
)
from seqlab.pages.report_data import LineChart, LineSeries
from seqlab.pages.sections.by_length import LengthChart, LengthLine
from seqlab.pages.sections.slices import SliceChart, SlicePart, slices_section
from tests.pages.reading import Page

HOSTILE = "<img src=x onerror=alert(1)>\x1b[2J\u202e"
LONGER = [IntervalRow("1–5", 31.0, 28.0, 34.0), IntervalRow("6–14", 22.5, 18.0, 27.0)]


def full_page(word: str) -> ComparisonPage:
    return ComparisonPage(
        title=f"{word} or b",
        reference=word,
        findings=[f"b is better than {word} by 0.1"],
        warnings=[word],
        scores=[
            ScoreComparison(
                "accuracy",
                True,
                [IntervalRow(word, 0.8, 0.75, 0.85), IntervalRow("b", 0.9, 0.86, 0.93)],
                0.5,
                "naive Bayes",
            )
        ],
        differences=[
            ScoreDifference("accuracy", "b", 0.1, 0.02, 0.18, 0.003, True),
            ScoreDifference("loss", "b", 0.1, -0.2, 0.3, 0.4, False),
        ],
        table=[{"run": word, "accuracy": "0.8"}, {"run": "b", "accuracy": "0.9"}],
        agreements=[Agreement("b", 70, 10, 20, 5, 0.1)],
        examples=[DisagreementExample(word, word, "pos", {word: "neg", "b": "pos"})],
        num_disagreements=30,
        curves=[LineChart("Validation", "minutes", "accuracy", [LineSeries("b", [0, 1], [0.5, 0.9])])],
        by_length=LengthChart(
            "bleu", "words", [4.0, 9.5], [30, 12], [LengthLine(name, LONGER) for name in (word, "b")]
        ),
        command="seqlab compare a b",
    )


def test_the_answer_comes_first_and_everything_has_its_place() -> None:
    page = Page(render_comparison(full_page("a")))
    sections = [
        "answer",
        "scores",
        "differences",
        "table",
        "lengths",
        "curves",
        "agreement",
        "examples",
        "again",
    ]
    assert [name for name in page.values("id") if name in sections] == sections
    for words in (
        "b is better than a by 0.1",
        "naive Bayes 0.5000",
        "p = 0.003",
        "not significant",
        "first 1 of 30",
        "only the other",
        "31.00 [28.00, 34.00]",
    ):
        assert words in page.text


def test_hostile_names_and_texts_stay_text() -> None:
    html = render_comparison(full_page(HOSTILE))
    assert "img" not in Page(html).names()
    assert "\x1b" not in html


def test_rows_share_one_axis_and_what_is_not_finite_is_only_named() -> None:
    drawn = Page(
        str(
            draw_interval_rows(
                [IntervalRow("a", 1.0, 0.5, 1.5), IntervalRow("b", float("inf"))], title="t", reference=0.0
            )
        )
    )
    assert "a" in drawn.text
    assert "b" in drawn.text
    assert [name for name, _ in drawn.tags].count("circle") == 1
    assert draw_interval_rows([IntervalRow("a", float("nan"))], title="t") == ""


def test_parts_of_the_data_are_bars_with_their_counts() -> None:
    page = Page(
        str(
            slices_section(
                [
                    SliceChart(
                        "length",
                        "accuracy",
                        "rows",
                        [SlicePart("1–8", 352, 0.4, 0.3, 0.5), SlicePart("9–12", 20, 0.6, 0.5, 0.7)],
                        0.5,
                    )
                ]
            )
        )
    )
    assert "accuracy by length" in page.text
    assert "352" in page.text
    assert [name for name, _ in page.tags].count("circle") == 2


def test_names_with_percent_signs_get_more_room() -> None:
    def end_of_name(name: str) -> float:
        chart = draw_interval_rows([IntervalRow(name, 0.5, 0.4, 0.6, "(12)")], title="accuracy")
        before = str(chart).partition('<tspan class="strong-label">')[0]
        return float(re.findall(r'x="([\d.]+)"', before)[-1])

    assert end_of_name("22%–30%") > end_of_name("220–300") + 10
