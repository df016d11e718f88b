"""The initial bias of the forget gate: a positive value makes the cell remember from the start."""

from __future__ import annotations

import torch
from torch import Tensor


def set_forget_bias(bias: Tensor | None, *, gate: int, size: int, value: float) -> None:
    """Set the bias of the forget gate, which is gate number `gate` of its cell. Does nothing for a cell
    without biases.

    Papers: Gers et al. 2000; Jozefowicz et al. 2015 (a bias of 1 closes most of the gap between
    architectures).
    """
    if bias is not None:
        with torch.no_grad():
            bias[gate * size : (gate + 1) * size] = value
