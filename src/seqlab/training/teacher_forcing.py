"""The teacher-forcing ratio of scheduled sampling: how often a decoder reads the target instead of its own
prediction.
"""

from __future__ import annotations

import math
from typing import Literal

Decay = Literal["none", "constant", "linear", "exponential", "inverse_sigmoid"]


def teacher_forcing_ratio(step: int, *, decay: Decay, half: float, least: float = 0.0) -> float:
    """Return the probability that the decoder reads the previous target, after `step` updates.

        linear           1 - step / (2 half)
        exponential      ½ ^ (step / half)
        inverse sigmoid  k / (k + e^(step / k)),  with k such that it is ½ at `half`

    It starts at 1 (just below for the sigmoid), is ½ after `half` updates, and never falls below `least`.
    With `constant` it is always `least`. Paper: Bengio et al. 2015, "Scheduled Sampling for Sequence
    Prediction with Recurrent Neural Networks", arXiv:1506.03099, section 2.4.

    >>> [round(teacher_forcing_ratio(step, decay="inverse_sigmoid", half=1000), 3) for step in (0, 500, 1000, 2000)]
    [0.995, 0.932, 0.5, 0.005]
    """
    if decay == "none":
        return 1.0
    if decay == "constant":
        return least
    if decay == "linear":
        ratio = 1 - step / (2 * half)
    elif decay == "exponential":
        ratio = 0.5 ** (step / half)
    else:
        k = _speed(half)
        ratio = k / (k + math.exp(min(step / k, 700.0)))
    return max(least, ratio)


def _speed(half: float) -> float:
    """Solve k ln k = half for k by Newton's method from above."""
    k = max(math.e, half)
    for _ in range(60):
        k -= (k * math.log(k) - half) / (math.log(k) + 1)
    return k
