"""Averaged weights or the last ones: whichever the validation data prefers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from seqlab.training.base import Validation

Weights = Literal["averaged", "last"]


def better_weights(candidates: Mapping[Weights, Validation]) -> Weights:
    """The weights with the better validation; averaged ones where both are equally good, for they vary less.

    >>> better_weights({"averaged": Validation(0.7, higher_is_better=True), "last": Validation(0.8, higher_is_better=True)})
    'last'
    """
    averaged, last = candidates.get("averaged"), candidates["last"]
    if averaged is None or last.beats(averaged.value) or last.wins_tie(averaged.value, averaged.loss):
        return "last"
    return "averaged"
