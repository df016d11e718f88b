"""Search for smoothing parameters: one grid for all series, then a finer one around the best value of each."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

GRID: Float[np.ndarray, " candidates"] = np.array(
    [0.01, 0.02, 0.05, *np.linspace(0.1, 0.9, 17).round(2), 0.95, 0.99]
)
"""Candidates for a smoothing parameter."""
LOWEST, HIGHEST = 0.01, 0.99
FINER = 9
"""Candidates around the best one."""


def refine(best: Float[np.ndarray, " series"], width: float) -> Float[np.ndarray, "candidates series"]:
    """Return candidates around the best value of each series; width: the part of a coarse step that they cover."""
    offsets = np.linspace(-0.05, 0.05, FINER)[:, None] * width
    return np.clip(best + offsets * np.minimum(1.0, best / 0.05), LOWEST, HIGHEST)


def least_squares_pair(
    sums: Float[np.ndarray, "6 candidates series"],
    *,
    fallback: Float[np.ndarray, " series"],
    lowest: float = -np.inf,
    highest: float = np.inf,
) -> tuple[Float[np.ndarray, "candidates series"], ...]:
    """Minimize Σ (r - a g - w d)² over a and over w between two bounds, from Σg², Σgd, Σd², Σgr, Σdr, Σr².

    Returns a, w and the remaining sum of squares. Where g vanishes, a is the fallback; where d adds nothing, w is 0.
    """
    gg, gd, dd, gr, dr, rr = sums
    has_decay = gg > 1e-12
    safe = np.where(has_decay, gg, 1.0)
    denominator = dd - np.where(has_decay, gd**2 / safe, 0.0)
    numerator = dr - np.where(has_decay, gd * gr / safe, 0.0)
    is_determined = denominator > 1e-12 * dd
    weight = np.divide(numerator, denominator, out=np.zeros_like(dd), where=is_determined)
    share = np.clip(weight, lowest, highest)
    level = np.where(has_decay, (gr - share * gd) / safe, fallback)
    error = rr - 2 * level * gr - 2 * share * dr + level**2 * gg + 2 * level * share * gd + share**2 * dd
    return level, share, error
