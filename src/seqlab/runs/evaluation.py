"""Score a split of the data with the scores of the task and the metrics of the recipe
(`evaluation.metrics`).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from seqlab.core.errors import RecipeError
from seqlab.metrics.metric import score_of
from seqlab.metrics.registry import metrics
from seqlab.metrics.score import Score
from seqlab.recipes.recipe import Recipe
from seqlab.recipes.setting_names import naming_settings
from seqlab.tasks.evaluation import Evaluation
from seqlab.tasks.evaluator import Evaluator
from seqlab.tasks.predictor import Predictor
from seqlab.tasks.spec import find_spec

NAME = "evaluation.metrics"


def reject_unsupported(recipe: Recipe) -> None:
    """Reject metrics before training if the task has no predictions to compute them from."""
    if recipe.evaluation.metrics and not find_spec(recipe.task).supports_metrics:
        raise RecipeError(
            f"{NAME}: the task {recipe.task} does not predict labels, tags or text, so metrics cannot be computed.",
            cure=f"Remove {NAME}.",
        )


def require_metrics(recipe: Recipe) -> None:
    """Check that every metric of a finished run is registered, before anything is scored."""
    for name in recipe.evaluation.metrics:
        metrics.get(name)


def evaluate_split(
    evaluator: Evaluator[Any, Any, Any], predictor: Predictor[Any, Any], split: str
) -> Evaluation:
    """Score a split, with the requested metrics and the notes from encoding it."""
    require_metrics(evaluator.recipe)
    with naming_settings(evaluator.recipe):  # an input may not fit the network
        evaluation = with_metrics(evaluator.evaluate(predictor, split), evaluator.recipe)
    return replace(evaluation, notes=evaluator.splits[split].notes)


def with_metrics(evaluation: Evaluation, recipe: Recipe) -> Evaluation:
    """Add the requested metrics to the scores of the task.

    A score that the task already reports is kept and its method says so; an error would come only after
    training.
    """
    requested = recipe.evaluation.metrics
    scores = [_with_note(score, recipe) if score.name in requested else score for score in evaluation.scores]
    items = dict(evaluation.items)
    for name in requested:
        if any(score.name == name for score in scores):
            continue
        metric = metrics.get(name)()
        items[name] = metric.items(evaluation.truths, evaluation.answers)
        scores.append(score_of(name, metric, items[name]))
    return replace(evaluation, scores=scores, items=items)


def _with_note(score: Score, recipe: Recipe) -> Score:
    note = (
        f"the task {recipe.task} already reports this score, so {NAME} does not compute '{score.name}' again"
    )
    return replace(score, method=f"{score.method}; {note}" if score.method else note)
