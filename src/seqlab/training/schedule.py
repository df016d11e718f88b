"""The learning rate as a function of the step."""

from __future__ import annotations

import math


def cosine_warmup(step: int, *, warmup_steps: int, decay_steps: int) -> float:
    """factor(s) = ½ (1 + cos(π s / decay_steps)) · min(1, s / warmup_steps).

    >>> cosine_warmup(0, warmup_steps=10, decay_steps=100), cosine_warmup(100, warmup_steps=10, decay_steps=100)
    (0.0, 0.0)
    """
    factor = 0.5 * (1 + math.cos(math.pi * min(step, decay_steps) / decay_steps))
    return factor * step / warmup_steps if step <= warmup_steps and warmup_steps else factor


def constant_warmup(step: int, *, warmup_steps: int) -> float:
    """factor(s) = min(1, s / warmup_steps)."""
    return min(1.0, step / warmup_steps) if warmup_steps else 1.0
