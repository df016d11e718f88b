"""Gradients that are too long are shortened; their direction stays."""

from __future__ import annotations

import math
from collections.abc import Iterable

import torch
from torch import nn


def clip_by_norm(parameters: Iterable[nn.Parameter], limit: float) -> float:
    """g <- c g / ‖g‖ when ‖g‖ > c, over all gradients as one vector. Returns ‖g‖ as it was; a limit of 0 only
    measures.

    Paper: Pascanu et al. 2013, "On the difficulty of training recurrent neural networks", arXiv:1211.5063,
    algorithm 1.
    """
    gradients = [parameter.grad for parameter in parameters if parameter.grad is not None]
    norm = float(nn.utils.get_total_norm(gradients))
    if limit and limit < norm < math.inf:
        torch._foreach_mul_(gradients, limit / norm)
    return norm
