"""Learning-rate schedules."""

from __future__ import annotations

import math

from seqlab.training.settings import TrainingSettings

SHARE_FOR_WARMUP = 0.05


def learning_rate(step: int, settings: TrainingSettings, *, total_steps: int) -> float:
    """Return the learning rate of update `step` (1-based) in a run of `total_steps`."""
    warmup = settings.warmup_steps if settings.warmup_steps >= 0 else int(total_steps * SHARE_FOR_WARMUP)
    if settings.schedule == "constant":
        return settings.learning_rate * constant_warmup(step, warmup_steps=warmup)
    decay = (
        settings.decay_steps or total_steps + 1
    )  # one more than the last step, so that the last update still has an effect
    return settings.learning_rate * cosine_warmup(step, warmup_steps=warmup, decay_steps=decay)


def cosine_warmup(step: int, *, warmup_steps: int, decay_steps: int) -> float:
    """factor(s) = ½ (1 + cos(π s / decay_steps)) · min(1, s / warmup_steps), and 0 after decay_steps.

    Paper: Loshchilov & Hutter 2017, "SGDR: Stochastic Gradient Descent with Warm Restarts", arXiv:1608.03983,
    equation 5, without restarts.

    >>> cosine_warmup(0, warmup_steps=10, decay_steps=100), cosine_warmup(100, warmup_steps=10, decay_steps=100)
    (0.0, 0.0)
    """
    factor = 0.5 * (1 + math.cos(math.pi * min(step, decay_steps) / decay_steps))
    return factor * constant_warmup(step, warmup_steps=warmup_steps)


def constant_warmup(step: int, *, warmup_steps: int) -> float:
    """factor(s) = min(1, s / warmup_steps)."""
    return min(1.0, step / warmup_steps) if warmup_steps else 1.0
