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
    value: float, low: float | None = None, high: float | None = None, baseline: float | None = 0.83
) -> ScoreLine:
    return ScoreLine("test", "accuracy", value, low, high, baseline, "naive Bayes")


def loss(
    value: float, low: float | None = None, high: float | None = None, baseline: float | None = 1.69
) -> ScoreLine:
    return ScoreLine(
        "valid", "loss", value, low, high, baseline, "the 5-gram", higher_is_better=False, unit="nats"
    )


def place(picture: ET.Element, path: str, attribute: str) -> float:
    element = picture.find(path)
    assert element is not None
    return float(element.get(attribute) or "")


@pytest.mark.parametrize(
    ("score", "words"),
    [
        (accuracy(0.873, 0.86, 0.885), "beats naive Bayes by 0.043"),
        (accuracy(0.873), "beats naive Bayes by 0.043"),
        (
            accuracy(0.835, 0.82, 0.85),
            "beats naive Bayes by 0.005, but its interval reaches the baseline: it may be chance",
        ),
        (accuracy(0.80, 0.78, 0.82), "does NOT beat naive Bayes: worse by 0.030"),
        (accuracy(0.80, 0.78, 0.85), "does NOT beat naive Bayes: worse by 0.030"),
        (accuracy(0.83, 0.82, 0.84), "does NOT beat naive Bayes: the two are equal"),
        (accuracy(0.83004), "beats naive Bayes by 0.000040"),
        (accuracy(0.9, baseline=None), "has no baseline to compare with"),
        (accuracy(math.nan), "cannot be compared: not a finite number"),
        (loss(1.61, 1.60, 1.62), "beats the 5-gram by 0.080 nats"),
        (
            loss(1.68, 1.66, 1.70),
            "beats the 5-gram by 0.010 nats, but its interval reaches the baseline: it may be chance",
        ),
        (loss(1.75, 1.74, 1.76), "does NOT beat the 5-gram: worse by 0.060 nats"),
        (ScoreLine("test", "accuracy", 0.5, baseline=0.4), "beats the baseline by 0.100"),
        (
            ScoreLine("test", "accuracy", 87.34, baseline=83.01, baseline_name="majority", unit="%"),
            "beats majority by 4.33 %",
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
    page = Page(render_report(Report("t", scores=[accuracy(0.873, 0.86, 0.885), loss(1.75, 1.74, 1.76)])))
    for words in (
        "beats naive Bayes by 0.043",
        "does NOT beat the 5-gram: worse by 0.060 nats",
        "0.860 – 0.885",
        "+0.043",
        "lower is better",
    ):
        assert words in page.text


def test_outcomes_are_marked_by_more_than_a_colour() -> None:
    scores = [accuracy(0.9, 0.89, 0.91), accuracy(0.84, 0.82, 0.86), accuracy(0.7, 0.69, 0.71)]
    assert [outcome(score) for score in scores] == ["beats", "unsure", "loses"]
    text = Page(render_report(Report("t", scores=scores))).text
    assert [text.count(sign) for sign in "▲≈▼"] == [1, 1, 1]


def test_a_score_without_interval_and_baseline_has_no_picture() -> None:
    assert draw_interval_bar(accuracy(0.8, baseline=None), verdict="v") == ""
