"""A score knows its baseline, survives JSON, and says what it is."""

from __future__ import annotations

import json
import math

import pytest

from seqlab.metrics.score import Score

FEW = "(too few items for an interval)"


@pytest.mark.parametrize(
    ("value", "baseline", "higher_is_better", "expected"),
    [
        (0.9, 0.5, True, True),
        (0.5, 0.5, True, False),
        (0.4, 0.5, True, False),
        (3.0, 5.0, False, True),
        (5.0, 3.0, False, False),
    ],
)
def test_better_depends_on_the_direction(
    value: float, baseline: float, higher_is_better: bool, expected: bool
) -> None:
    assert Score("s", value, baseline=baseline, higher_is_better=higher_is_better).beats_baseline is expected


@pytest.mark.parametrize(
    ("value", "baseline", "higher_is_better", "expected"),
    [
        (1.0, 1.0, True, False),
        (0.0, 0.0, False, False),
        (100.0, 100.0, True, False),
        (0.9, 0.9, True, True),
        (0.9, 1.0, True, True),
        (1.0, 0.9, True, False),
    ],
)
def test_only_what_could_be_better_is_beaten_by_its_equal(
    value: float, baseline: float, higher_is_better: bool, expected: bool
) -> None:
    assert Score("s", value, baseline=baseline, higher_is_better=higher_is_better).is_beaten is expected


def test_an_infinite_perplexity_is_worse_than_any_baseline() -> None:
    assert Score("perplexity", math.inf, baseline=900.0, higher_is_better=False).beats_baseline is False


@pytest.mark.parametrize(
    "score", [Score("s", 0.5), Score("s", math.nan, baseline=0.5), Score("s", 0.5, baseline=math.nan)]
)
def test_without_two_numbers_there_is_no_comparison(score: Score) -> None:
    assert score.beats_baseline is None


def test_a_clear_win_needs_the_worse_end_of_the_interval() -> None:
    assert Score("accuracy", 0.9, 0.8, 0.95, baseline=0.7).clearly_beats_baseline is True
    assert Score("accuracy", 0.9, 0.6, 0.95, baseline=0.7).clearly_beats_baseline is False
    assert Score("loss", 1.0, 0.8, 1.2, baseline=1.1, higher_is_better=False).clearly_beats_baseline is False
    assert Score("loss", 1.0, 0.8, 1.2, baseline=1.3, higher_is_better=False).clearly_beats_baseline is True
    assert Score("accuracy", 0.9, baseline=0.7).clearly_beats_baseline is None


@pytest.mark.parametrize(
    "score",
    [
        Score("accuracy", 0.9, 0.85, 0.94, 0.5, "majority class", method="exact, 1000 examples"),
        Score("perplexity", math.inf, 3.0, math.inf, 0.0, "5-gram", higher_is_better=False),
        Score("delta", 0.0, -math.inf, 0.0),
        Score("loss", 0.25),
    ],
    ids=lambda score: score.name,
)
def test_json_and_back_is_the_same_score(score: Score) -> None:
    text = json.dumps(score.as_json(), allow_nan=False)
    assert Score.from_json(json.loads(text)) == score


def test_nan_becomes_a_word_in_json() -> None:
    text = json.dumps(Score("f1", math.nan).as_json(), allow_nan=False)
    assert json.loads(text)["value"] == "nan"
    assert math.isnan(Score.from_json(json.loads(text)).value)


@pytest.mark.parametrize(
    ("score", "expected"),
    [
        (Score("accuracy", 0.875), f"accuracy 0.8750 {FEW}"),
        (
            Score("perplexity", 61.27, 59.1, 63.5, 1220.4, "5-gram", higher_is_better=False),
            "perplexity 61.27 (95 % interval 59.10 to 63.50), better than 5-gram 1,220",
        ),
        (
            Score("accuracy", 0.4, baseline=0.5, baseline_name="majority class"),
            f"accuracy 0.4000 {FEW}, worse than majority class 0.5000",
        ),
        (
            Score("accuracy", 0.5, baseline=0.5, baseline_name="majority class"),
            f"accuracy 0.5000 {FEW}, equal to majority class 0.5000",
        ),
        (
            Score("accuracy", 0.52, 0.48, 0.56, 0.5),
            (
                "accuracy 0.5200 (95 % interval 0.4800 to 0.5600), better than the baseline 0.5000, though"
                " not clearly"
            ),
        ),
        (
            Score("perplexity", math.inf, baseline=9.5, higher_is_better=False),
            f"perplexity inf {FEW}, worse than the baseline 9.5000",
        ),
        (Score("f1", math.nan, baseline=0.5), f"f1 nan {FEW}, beside the baseline 0.5000"),
    ],
)
def test_the_sentence_says_value_interval_and_baseline(score: Score, expected: str) -> None:
    assert score.describe() == expected
