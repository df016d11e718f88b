"""A learning-rate range test on the data and the network of a recipe. No run folder is made."""

from __future__ import annotations

import math

from seqlab.core.errors import UsageError
from seqlab.core.notify import Notify, ignore
from seqlab.recipes.recipe import Recipe
from seqlab.runs.train.learning_rate_search import LearningRateSearch, measure_learning_rates
from seqlab.runs.train.prepare import prepare
from seqlab.training.base import Callback
from seqlab.training.range_test import HIGHEST, LOWEST, UPDATES

FEWEST_UPDATES = 20


def find_learning_rate(
    recipe: Recipe,
    *,
    low: float = LOWEST,
    high: float = HIGHEST,
    steps: int = UPDATES,
    callback: Callback | None = None,
    on_stage: Notify = ignore,
    on_note: Notify = ignore,
) -> LearningRateSearch:
    """Prepare the data and the network as for training, and test learning rates between `low` and `high`."""
    _check_range(low, high, steps)
    limited = recipe.changed("training", steps=steps, epochs=0, minutes=0, find_learning_rate=False)
    prepared = prepare(limited, on_stage=on_stage, on_note=on_note)
    on_stage(f"{steps} updates with learning rates from {low:g} to {high:g}")
    for warning in prepared.warnings:
        on_note(f"WARNING: {warning}")
    return measure_learning_rates(
        prepared.model,
        prepared.objective,
        prepared.recipe,
        device=prepared.device,
        low=low,
        high=high,
        steps=steps,
        callback=callback,
    )


def _check_range(low: float, high: float, steps: int) -> None:
    if not 0 < low < high < math.inf:
        raise UsageError(
            f"expected 0 < low < high, found low {low:g} and high {high:g}.",
            where="--low, --high",
            cure=f"For example: --low {LOWEST:g} --high {HIGHEST:g}",
        )
    if steps < FEWEST_UPDATES:
        raise UsageError(
            f"{steps} updates are too few for a curve.", where="--steps", cure=f"At least {FEWEST_UPDATES}."
        )
