from __future__ import annotations

import math
import xml.etree.ElementTree as ET

import pytest

from seqlab.pages.charts.intervals import draw_interval_bar
from seqlab.pages.report import render_report
from seqlab.pages.report_data import Report, ScoreLine
from seqlab.pages.sections.scores import outcome, verdict
from tests.pages.reading import Page


def accuracy(
    value: float,
    low: float | None = None,
    high: float | None = None,
    baseline: float | None = 0.83,
    verdict: str = "",
) -> ScoreLine:
    comparison = f"{verdict} than naive Bayes" if verdict else ""
    return ScoreLine(
        "test", "accuracy", value, low, high, baseline, "naive Bayes", verdict=verdict, comparison=comparison
    )


def loss(value: float, low: float | None = None, high: float | None = None, verdict: str = "") -> ScoreLine:
    return ScoreLine(
        "valid",
        "loss",
        value,
        low,
        high,
        1.69,
        "the 5-gram",
        higher_is_better=False,
        unit="nats",
        verdict=verdict,
        comparison=f"{verdict} than the 5-gram" if verdict else "",
    )


def place(picture: ET.Element, path: str, attribute: str) -> float:
    element = picture.find(path)
    assert element is not None
    return float(element.get(attribute) or "")


@pytest.mark.parametrize(
    ("score", "words"),
    [
        (
            accuracy(0.873, 0.86, 0.885, verdict="clearly better"),
            "clearly better than naive Bayes: by 0.043",
        ),
        (accuracy(0.83004, verdict="better"), "better than naive Bayes: by 0.000040"),
        (accuracy(0.9, baseline=None), "no baseline"),
        (loss(1.75, 1.74, 1.76, verdict="clearly worse"), "clearly worse than the 5-gram: by 0.060 nats"),
        (
            ScoreLine(
                "test", "accuracy", 1.0, baseline=0.4, verdict="too few", comparison="8 rows are too few"
            ),
            "8 rows are too few",
        ),
        (
            ScoreLine(
                "t", "loss", math.inf, baseline=0.4, verdict="clearly worse", comparison="worse than X"
            ),
            "worse than X",
        ),
    ],
)
def test_the_verdict_in_words(score: ScoreLine, words: str) -> None:
    assert verdict(score) == words


@pytest.mark.parametrize(
    ("score", "shaded_from_baseline_to"),
    [(accuracy(0.873, 0.86, 0.885), "right"), (loss(1.61, 1.60, 1.62), "left")],
)
def test_the_picture_shades_the_better_side_of_the_baseline(
    score: ScoreLine, shaded_from_baseline_to: str
) -> None:
    picture = ET.fromstring(draw_interval_bar(score, verdict="v"))
    left, width = (
        place(picture, "rect[@class='better']", "x"),
        place(picture, "rect[@class='better']", "width"),
    )
    edge = left if shaded_from_baseline_to == "right" else left + width
    assert edge == pytest.approx(place(picture, "line[@class='baseline']", "x1"), abs=0.02)
    assert left < place(picture, "circle", "cx") < left + width


def test_dot_interval_and_baseline_share_one_scale() -> None:
    picture = ET.fromstring(draw_interval_bar(accuracy(0.6, 0.5, 0.8, baseline=0.4), verdict="v"))
    left, width = place(picture, "rect[@class='reach']", "x"), place(picture, "rect[@class='reach']", "width")
    per_unit = width / (0.8 - 0.5)
    assert place(picture, "circle", "cx") == pytest.approx(left + 0.1 * per_unit, abs=0.05)
    assert place(picture, "line[@class='baseline']", "x1") == pytest.approx(left - 0.1 * per_unit, abs=0.05)


@pytest.mark.parametrize(
    "score",
    [
        ScoreLine("s", "n", 0.0),
        ScoreLine("s", "n", 0.0, 0.0, 0.0, 0.0),
        ScoreLine("s", "n", math.inf, 1.0, math.inf, 2.0),
        ScoreLine("s", "n", 1.0, math.nan, math.nan, math.nan),
        ScoreLine("s", "n", 1e300, -1e300, 1e300, 0.0),
        ScoreLine("s", "n", 1.0, low=0.5),
    ],
)
def test_odd_scores_are_shown_without_a_crash(score: ScoreLine) -> None:
    html = render_report(Report("t", scores=[score]))
    assert "nan" not in " ".join(Page(html).values("x") + Page(html).values("cx"))


def test_the_page_says_the_verdict_and_lists_the_numbers() -> None:
    scores = [
        accuracy(0.873, 0.86, 0.885, verdict="clearly better"),
        loss(1.75, 1.74, 1.76, verdict="clearly worse"),
    ]
    page = Page(render_report(Report("t", scores=scores)))
    for words in (
        "clearly better than naive Bayes: by 0.043",
        "clearly worse than the 5-gram: by 0.060 nats",
        "0.860 – 0.885",
        "+0.043",
        "lower is better",
    ):
        assert words in page.text


def test_outcomes_are_marked_by_more_than_a_colour() -> None:
    verdicts = ("clearly better", "better", "worse", "clearly worse", "too few")
    scores = [accuracy(0.9, 0.89, 0.91, verdict=each) for each in verdicts]
    assert [outcome(score) for score in scores] == ["beats", "unsure", "unsure", "loses", "none"]
    text = Page(render_report(Report("t", scores=scores))).text
    assert [text.count(sign) for sign in "▲≈▼"] == [1, 2, 1]


def test_a_score_without_interval_and_baseline_has_no_picture() -> None:
    assert draw_interval_bar(accuracy(0.8, baseline=None), verdict="v") == ""


@pytest.mark.parametrize("baseline", [0.01, 0.5, 0.99])
def test_the_name_of_a_baseline_stays_inside_the_figure(baseline: float) -> None:
    name = "naive Bayes on character n-grams with a very long name indeed"
    for shown in (name[:32], name):
        score = ScoreLine("test", "accuracy", 0.5, 0.4, 0.6, baseline, shown)
        picture = ET.fromstring(draw_interval_bar(score, verdict="equal"))
        [label] = [text for text in picture.iter("text") if text.get("class") == "quiet-label"]
        assert label.get("text-anchor") == "middle"
        half = 6.8 * len(label.text or "") / 2
        assert half - 0.01 <= float(label.get("x") or "") <= 340 - half + 0.01
        assert (label.text or "").endswith(f"{baseline:.3f}")
