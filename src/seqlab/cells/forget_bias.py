"""Remembering from the start: the forget gate's bias."""

from __future__ import annotations

import torch
from torch import Tensor


def set_forget_bias(bias: Tensor | None, *, gate: int, size: int, value: float) -> None:
    """Set the rows of the forget gate, which is number `gate` of its cell; a cell without biases has none to
    set.

    Papers: Gers et al. 2000; Jozefowicz et al. 2015 (a bias of 1 closes most of the gap between
    architectures).
    """
    if bias is not None:
        with torch.no_grad():
            bias[gate * size : (gate + 1) * size] = value
