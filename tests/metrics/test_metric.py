"""Metrics of plug-ins: computed on truths and predictions, with an interval like every other score."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence

import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score

from seqlab.core.errors import RecipeError
from seqlab.core.plugins import load_plugin_file
from seqlab.metrics.bootstrap import bootstrap_interval
from seqlab.metrics.metric import Answer, MeanMetric, Metric, score_of
from seqlab.metrics.registry import metrics
from seqlab.metrics.score import Score
from seqlab.recipes.read import check
from seqlab.runs.evaluation import reject_unsupported, with_metrics
from seqlab.tasks.evaluation import Evaluation
from tests.plugins.example_data import EXAMPLES


class Exact(MeanMetric):
    """Share of items that are right."""

    def item_value(self, truth: Answer, prediction: Answer) -> float:
        return float(truth == prediction)


class SlowExact(Metric):
    """Share of items that are right, from all answers at once."""

    higher_is_better = False

    def value(self, truths: Sequence[Answer], predictions: Sequence[Answer]) -> float:
        return sum(map(tuple.__eq__, truths, predictions)) / len(truths)


@pytest.fixture
def kappa() -> Iterator[type[Metric]]:
    load_plugin_file(EXAMPLES / "kappa_metric.py")
    yield metrics.get("cohen_kappa")
    del metrics._parts["cohen_kappa"]


def answers(num_items: int = 60) -> tuple[list[Answer], list[Answer]]:
    chance = random.Random(2)
    truths = [(chance.choice("aab"),) for _ in range(num_items)]
    return truths, [truth if chance.random() < 0.7 else (chance.choice("abc"),) for truth in truths]


def test_a_mean_and_a_metric_of_all_answers_agree() -> None:
    truths, predictions = answers()
    right = np.mean([truth == prediction for truth, prediction in zip(truths, predictions, strict=True)])
    scores = [
        score_of("exact", metric, metric.items(truths, predictions)) for metric in (Exact(), SlowExact())
    ]
    assert [score.value for score in scores] == [pytest.approx(right)] * 2
    assert [score.higher_is_better for score in scores] == [True, False]
    for score in scores:  # a binomial share of 60 items: ± 1.96 · √(p (1 - p) / 60)
        assert score.low is not None
        assert score.high is not None
        width = 2 * 1.96 * (right * (1 - right) / 60) ** 0.5
        assert score.high - score.low == pytest.approx(width, rel=0.2)
    assert scores[0].method == "Share of items that are right."


def test_the_kappa_of_the_documentation_is_that_of_scikit_learn(kappa: type[Metric]) -> None:
    truths, predictions = answers()
    items = kappa().items(truths, predictions)
    one = [label for (label,) in truths], [label for (label,) in predictions]
    assert items.full_score() == pytest.approx(cohen_kappa_score(*one))
    drawn = np.random.default_rng(0).integers(60, size=60)
    again = [[labels[index] for index in drawn] for labels in one]
    assert items.value(drawn) == pytest.approx(cohen_kappa_score(*again))
    interval = bootstrap_interval(items)
    assert interval.low < items.full_score() < interval.high


def test_requested_metrics_come_after_the_scores_of_the_task(kappa: type[Metric]) -> None:
    truths, predictions = answers()
    evaluation = Evaluation("test", [Score("accuracy", 0.7)], answers=predictions, truths=truths)
    recipe = check({"evaluation": {"metrics": ["cohen_kappa"]}}, where="")
    whole = with_metrics(evaluation, recipe)
    assert [score.name for score in whole.scores] == ["accuracy", "cohen_kappa"]
    assert whole.items["cohen_kappa"].full_score() == whole.scores[1].value
    assert len(evaluation.scores) == 1
    again = with_metrics(whole, recipe)  # what is reported already is not computed again, and says so
    assert [(score.name, score.value) for score in again.scores] == [
        (score.name, score.value) for score in whole.scores
    ]
    assert [score.name for score in again.scores if "evaluation.metrics" in score.method] == list(
        recipe.evaluation.metrics
    )


@pytest.mark.parametrize(
    ("task", "works"),
    [("classification", True), ("tagging", True), ("translation", True), ("language_model", False)],
)
def test_a_task_without_predictions_rejects_metrics_before_training(
    task: str, works: bool, kappa: type[Metric]
) -> None:
    values = {"task": task, "evaluation": {"metrics": ["cohen_kappa"]}}
    if works:
        return reject_unsupported(check(values, where=""))
    with pytest.raises(RecipeError) as caught:
        reject_unsupported(check(values, where=""))
    assert task in str(caught.value)
    assert "evaluation.metrics" in str(caught.value)
    return None


def test_an_unknown_metric_is_answered_with_where_metrics_come_from() -> None:
    with pytest.raises(RecipeError) as caught:
        check({"evaluation": {"metrics": ["no_such_metric"]}}, where="")
    for fact in ("evaluation.metrics", "no_such_metric", "plug-in", "--plugin FILE"):
        assert fact in str(caught.value)
