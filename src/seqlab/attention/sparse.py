"""Sparse alignments: exact zeros where the softmax has small numbers.

The maps and their derivatives come from the package `entmax`, by the papers' authors (extra `sparse`), which
is imported on first use.
"""

from __future__ import annotations

from collections.abc import Callable

from torch import Tensor

from seqlab.attention.normalization import Normalizer, Scores
from seqlab.core.extras import require


class Sparsemax(Normalizer):
    """alignment = the point of the simplex nearest to the scores: argmin ‖p - scores‖².

    A source step that scores 1 or more below the best gets exactly 0. Paper: Martins & Astudillo 2016, "From
    Softmax to Sparsemax", arXiv:1602.02068.
    """

    def __init__(self) -> None:
        super().__init__()
        self._map = _load_entmax("sparsemax")

    def normalize(self, scores: Scores) -> Scores:
        return self._map(scores)


class Entmax(Normalizer):
    """alignment = argmax p · scores + H(p), with the Tsallis entropy of order 1.5: between softmax (1) and
    sparsemax (2).

    A source step that scores 2 or more below the best gets exactly 0. Paper: Peters et al. 2019, "Sparse
    Sequence-to-Sequence Models", arXiv:1905.05702.
    """

    def __init__(self) -> None:
        super().__init__()
        self._map = _load_entmax("entmax15")

    def normalize(self, scores: Scores) -> Scores:
        return self._map(scores)


def _load_entmax(name: str) -> Callable[[Tensor], Tensor]:
    function: Callable[[Tensor], Tensor] = getattr(
        require("entmax", extra="sparse", purpose="sparse attention"), name
    )
    return function
