"""Advice from the validation curve of a finished run."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any, Literal

Shape = Literal["overfitting", "improving", "plateau", "unknown"]
FEWEST = 4
"""Minimum number of validations to judge a curve."""
EARLY, LATE = 0.75, 0.9
"""A best step before the first share of the run is early, one after the second share is at the end."""
RISE, FALL = 0.03, 0.02
"""Relative changes of the loss that matter: after its lowest value, and over the last quarter."""


def validation_losses(events: Iterable[Mapping[str, Any]]) -> list[tuple[int, float]]:
    """Return the steps and validation losses in a journal."""
    return [
        (event["step"], float(event["valid_loss"]))
        for event in events
        if event["event"] == "validated" and isinstance(event.get("valid_loss"), int | float)
    ]


def curve_shape(losses: list[tuple[int, float]]) -> Shape:
    """
    >>> curve_shape([(1, 2.0), (2, 1.0), (3, 1.2), (4, 1.5)]), curve_shape([(1, 4.0), (2, 3.0), (3, 2.0), (4, 1.0)])
    ('overfitting', 'improving')
    >>> curve_shape([(1, 4.0), (2, 1.0), (3, 1.0), (4, 1.01)]), curve_shape([(1, 4.0)])
    ('plateau', 'unknown')
    """
    if len(losses) < FEWEST:
        return "unknown"
    end, last = losses[-1]
    best_step, lowest = min(losses, key=lambda entry: entry[1])
    if best_step <= EARLY * end and last - lowest > RISE * abs(lowest):
        return "overfitting"
    before = next(loss for step, loss in reversed(losses) if step <= EARLY * end or step == losses[0][0])
    if best_step >= LATE * end and before - lowest > FALL * abs(before):
        return "improving"
    return "plateau"


def training_advice(events: Iterable[Mapping[str, Any]], *, minutes: float) -> str:
    """Return advice, or an empty string if there are too few validations.

    minutes: the time budget of the run; 0 for none.
    """
    events = list(events)
    losses = validation_losses(events)
    shape = curve_shape(losses)
    if shape == "unknown":
        return ""
    (end, last), (best_step, lowest) = losses[-1], min(losses, key=lambda entry: entry[1])
    if shape == "overfitting":
        return (
            f"overfitting: the validation loss was lowest at step {best_step:,} ({lowest:.4f}) and rose to"
            f" {last:.4f} by step {end:,}. Try more data, regularization (model.dropout, training.weight_decay)"
            " or a smaller model (model.hidden_size)."
        )
    if shape == "improving" and events[-1].get("reason") == "early stopping":
        return (
            f"early stopping: the validation loss was still falling ({last:.4f} at step {end:,}), but the metric that"
            " selects the best step did not improve. To train longer anyway: training.patience=0"
        )
    if shape == "improving":
        longer = f"--minutes {math.ceil(20 * minutes) / 10:g}" if minutes else f"training.steps={2 * end}"
        return (
            f"still improving: the validation loss was falling when training ended ({last:.4f} at step"
            f" {end:,}). Try training twice as long: {longer}"
        )
    return (
        f"plateau: the validation loss changed little toward the end ({last:.4f}; lowest {lowest:.4f} at step"
        f" {best_step:,}). Try another model (--model NAME), another training.learning_rate or more data."
    )
