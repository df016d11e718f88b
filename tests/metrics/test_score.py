"""A score knows its verdict, survives JSON, and says what it is."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

from seqlab.metrics.items import mean_items
from seqlab.metrics.paired_difference import MIN_COMPARED_ITEMS, PairedDifference
from seqlab.metrics.score import Score, beaten_scores, uncompared_scores
from seqlab.metrics.score_with_interval import score_with_interval

NONE = "(no 95% CI)"


def accuracy_of(right: np.ndarray, baseline_right: np.ndarray) -> Score:
    return score_with_interval(
        "accuracy", mean_items(right), baseline=mean_items(baseline_right), baseline_name="naive Bayes"
    )


def first_of(count: int, total: int) -> np.ndarray:
    """So many of all are right: the first ones."""
    return np.arange(total) < count


@pytest.mark.parametrize(
    ("model", "baseline", "verdict"),
    [
        (240, 200, "clearly better"),
        (205, 200, "better"),
        (200, 200, "equal"),
        (195, 200, "worse"),
        (160, 200, "clearly worse"),
    ],
)
def test_better_and_worse_follow_one_rule(model: int, baseline: int, verdict: str) -> None:
    generator = np.random.default_rng(0)
    score = accuracy_of(
        generator.permutation(first_of(model, 300)), generator.permutation(first_of(baseline, 300))
    )
    assert score.verdict == verdict
    assert score.describe().count("but not clearly") == (verdict in ("better", "worse"))
    assert ("clearly" in score.describe()) == (verdict != "equal")


def test_the_verdict_of_a_loss_is_that_of_an_accuracy_turned_around() -> None:
    model, baseline = np.random.default_rng(3).random((2, 200))
    up = score_with_interval("gain", mean_items(-model), baseline=mean_items(-baseline - 0.3))
    down = score_with_interval(
        "loss", mean_items(model), baseline=mean_items(baseline + 0.3), higher_is_better=False
    )
    assert up.verdict == down.verdict == "clearly better"
    worse = score_with_interval(
        "loss", mean_items(model + 0.3), baseline=mean_items(baseline), higher_is_better=False
    )
    assert worse.verdict == "clearly worse"


def test_the_verdict_is_paired_so_that_hard_rows_cancel_out() -> None:
    """3 of 100 rows are gained and none is lost: far within the interval of either accuracy, and yet clear
    once there are enough of them.
    """
    score = accuracy_of(first_of(510, 600), first_of(500, 600))
    assert score.low < 500 / 600 < score.high
    assert score.verdict == "clearly better"
    assert score.difference.low > 0


def test_a_baseline_of_which_only_the_score_is_known_is_compared_with_the_interval() -> None:
    right = first_of(90, 100)
    assert score_with_interval("accuracy", mean_items(right), baseline=0.7).verdict == "clearly better"
    assert score_with_interval("accuracy", mean_items(right), baseline=0.88).verdict == "better"
    assert score_with_interval("accuracy", mean_items(right), baseline=0.99).verdict == "clearly worse"


@pytest.mark.parametrize("num_items", [1, 8, MIN_COMPARED_ITEMS - 1])
def test_few_rows_give_no_verdict_however_clear_they_look(num_items: int) -> None:
    score = accuracy_of(np.ones(num_items, bool), np.zeros(num_items, bool))
    assert score.verdict == "too few"
    assert not score.is_beaten
    assert uncompared_scores([score]) == [score]
    line = score.describe()
    assert f"{num_items} row" in line
    assert "too few to compare" in line
    assert "better" not in line


def test_enough_rows_give_a_verdict() -> None:
    score = accuracy_of(np.ones(MIN_COMPARED_ITEMS, bool), np.zeros(MIN_COMPARED_ITEMS, bool))
    assert score.verdict == "clearly better"
    assert uncompared_scores([score]) == []


@pytest.mark.parametrize(
    ("right", "is_beaten"), [(100, False), (90, True), (80, True)], ids=["perfect", "tie", "worse"]
)
def test_only_what_could_be_better_is_beaten_by_its_equal(right: int, is_beaten: bool) -> None:
    score = accuracy_of(first_of(right, 100), first_of(max(right, 90), 100))
    assert score.is_beaten is is_beaten
    assert bool(beaten_scores([score])) is is_beaten


def test_two_infinite_losses_are_not_compared() -> None:
    endless = mean_items(np.array([1.0, math.inf] * 30))
    score = score_with_interval("loss", endless, baseline=endless, higher_is_better=False)
    assert score.verdict == "incomparable"
    finite = mean_items(np.ones(60))
    assert (
        score_with_interval("loss", endless, baseline=finite, higher_is_better=False).verdict
        == "clearly worse"
    )


@pytest.mark.parametrize(
    "score",
    [
        Score(
            "accuracy", 0.9, 0.85, 0.94, 0.5, "majority class", method="exact, 1000 examples",
            difference=PairedDifference(0.4, 0.35, 0.45, 0.0002, 0.0004, 9999, 1000, "sentences"),
        ),
        Score(
            "perplexity", math.inf, 3.0, math.inf, 0.0, "5-gram", higher_is_better=False,
            difference=PairedDifference(-math.inf, -math.inf, -1.0, 0.01, 0.01, 9999, 50),
        ),
        Score("delta", 0.0, -math.inf, 0.0, note="0.1 before"),
        Score("loss", 0.25, difference=PairedDifference(0.1, None, None, 1.0, 1.0, 0, 3)),
    ],
    ids=lambda score: score.name,
)  # fmt: skip
def test_json_and_back_is_the_same_score(score: Score) -> None:
    text = json.dumps(score.as_json(), allow_nan=False)
    assert Score.from_json(json.loads(text)) == score


def test_nan_becomes_a_word_in_json() -> None:
    text = json.dumps(Score("f1", math.nan).as_json(), allow_nan=False)
    assert json.loads(text)["value"] == "nan"
    assert math.isnan(Score.from_json(json.loads(text)).value)


def difference(value: float, p: float, num_items: int = 500) -> PairedDifference:
    return PairedDifference(value, value - 0.1, value + 0.1, p, p, 9999, num_items)


@pytest.mark.parametrize(
    ("score", "facts"),
    [
        (Score("accuracy", 0.875), f"accuracy 0.8750 {NONE}"),
        (
            Score(
                "perplexity", 61.27, 59.1, 63.5, 1220.4, "5-gram", False, difference=difference(1159, 0.001)
            ),
            "perplexity 61.27 (95% CI 59.10 to 63.50), clearly better than 5-gram (1,220)",
        ),
        (
            Score("accuracy", 0.4, 0.3, 0.55, 0.5, "majority class", difference=difference(-0.1, 0.2)),
            "accuracy 0.4000 (95% CI 0.3000 to 0.5500), worse than majority class (0.5000), but not clearly",
        ),
        (
            Score(
                "accuracy", 1.0, baseline=0.0, baseline_name="naive Bayes", difference=difference(1.0, 1.0, 1)
            ),
            f"accuracy 1.0000 {NONE}, 1 row is too few to compare with naive Bayes (0.0000)",
        ),
        (
            Score("ece", 0.098, 0.08, 0.12, note="0.0760 before temperature scaling"),
            "ece 0.0980 (0.0760 before temperature scaling; 95% CI 0.0800 to 0.1200)",
        ),
        (Score("f1", math.nan, baseline=0.5), f"f1 nan {NONE}, next to the baseline (0.5000)"),
    ],
)
def test_the_line_says_value_interval_and_verdict(score: Score, facts: str) -> None:
    assert score.describe() == facts
