"""A score before its interval is drawn: what it is made of, which way is better, and how it is computed."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from seqlab.metrics.bootstrap import scored
from seqlab.metrics.items import Items
from seqlab.metrics.score import Score


@dataclass(frozen=True)
class Rated:
    """`how` is enough to compute the score again; for those of sacrebleu it is the signature that papers print."""

    name: str
    items: Items
    how: str
    higher_is_better: bool = True

    def score(self, **facts: Any) -> Score:
        """The value with its interval; `facts` are further fields of a score, such as its baseline."""
        return scored(self.name, self.items, how=self.how, higher_is_better=self.higher_is_better, **facts)


def items_of(several: Iterable[Rated]) -> dict[str, Items]:
    """By name, as an evaluation wants them for slices and comparisons."""
    return {each.name: each.items for each in several}
