"""Every score, way of normalising and window, small and with sizes that differ, for the promises that all of
them keep.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import torch
from torch import Tensor, nn

from seqlab.attention.base import ScoreFunction, score_functions
from seqlab.attention.local import MonotonicWindow, PredictedWindow, Window
from seqlab.attention.normalization import HardmaxNormalizer, Normalizer, SoftmaxNormalizer
from seqlab.attention.sparse import Entmax, Sparsemax

AnyModule = TypeVar("AnyModule", bound=nn.Module)

SCORES = score_functions.names()
ANY_TWO_SIZES = ["additive", "concat", "general"]
NORMALISERS: dict[str, Callable[[], Normalizer]] = {
    "soft": SoftmaxNormalizer,
    "hard": HardmaxNormalizer,
    "sparsemax": Sparsemax,
    "entmax": Entmax,
}
WINDOWS: dict[str, Callable[[int], Window | None]] = {
    "global": lambda _: None,
    "monotonic": lambda _: MonotonicWindow(reach=2),
    "predicted": lambda size: PredictedWindow(size, reach=2),
}


def build_score(name: str, *, query_size: int = 5) -> ScoreFunction:
    """A score with every parameter random; its keys are wider than its queries where it takes any two
    sizes.
    """
    torch.manual_seed(7)
    score = score_functions.get(name)(query_size, query_size + 2 if name in ANY_TWO_SIZES else query_size)
    return randomised(score)


def randomised(module: AnyModule) -> AnyModule:
    """Every parameter random, so that none can hide behind a zero."""
    for parameter in module.parameters():
        nn.init.normal_(parameter, std=0.6)
    return module.double()


def numbers(*shape: int, seed: int = 1) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
