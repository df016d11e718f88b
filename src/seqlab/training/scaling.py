"""Step counts of a recipe, scaled to a run that is shorter than the recipe planned."""

from __future__ import annotations

from seqlab.training.settings import TrainingSettings

FEWEST_BETWEEN = 25
"""Updates between two validations, at least, unless a recipe or the user asks for fewer."""


def scale_counts(settings: TrainingSettings, share: float) -> TrainingSettings:
    """The settings of a run that makes this share of the planned updates: those in scale_with_budget shrink,
    all others stay.
    """
    if share >= 1 or not settings.scale_with_budget:
        return settings
    return settings.model_copy(
        update={
            name: scale_count(name, getattr(settings, name), share) for name in settings.scale_with_budget
        }
    )


def scale_count(name: str, value: float, share: float) -> float:
    """One step count for a run of this share of the planned length. 0 and -1, which already follow the run,
    stay.

    A moving average that keeps the share d of itself at each update reaches back over about 1 / (1 - d)
    updates; this number is what shrinks.

    >>> scale_count("average_every", 100, 0.25), scale_count("ema_decay", 0.99, 0.5)
    (25, 0.98)
    """
    if value <= 0:
        return value
    if name == "ema_decay":
        return max(0.0, 1 - (1 - value) / share)
    fewest = min(value, FEWEST_BETWEEN) if name == "evaluate_every" else 1
    return int(max(fewest, round(value * share)))
