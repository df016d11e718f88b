"""Options that several cells share: allowed values, and the bias of the forget gate."""

from __future__ import annotations

from typing import TypeVar

import torch
from torch import Tensor

from seqlab.core.errors import UsageError

Choice = TypeVar("Choice", bound=str)


def check_choice(option: str, choice: Choice, allowed: tuple[str, ...]) -> Choice:
    """Return the value if it is allowed; otherwise raise an error.

    >>> check_choice("keep", "old", ("old", "new"))
    'old'
    """
    if choice not in allowed:
        raise UsageError(
            f"{option} is {choice!r}.", cure=f"Use {' or '.join(repr(other) for other in allowed)}."
        )
    return choice


def set_forget_bias(bias: Tensor | None, *, gate: int, size: int, value: float) -> None:
    """Set the bias of the forget gate, which is gate number `gate` of its cell. Does nothing for a cell
    without biases.

    Papers: Gers et al. 2000; Jozefowicz et al. 2015 (a bias of 1 closes most of the gap between
    architectures).
    """
    if bias is not None:
        with torch.no_grad():
            bias[gate * size : (gate + 1) * size] = value
