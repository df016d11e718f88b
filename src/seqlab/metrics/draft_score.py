"""A score before its interval is drawn: what it is made of, which way is better, and how it is computed."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from seqlab.metrics.bootstrap import score_with_interval
from seqlab.metrics.items import Items
from seqlab.metrics.score import Score


@dataclass(frozen=True)
class DraftScore:
    """`method` is enough to compute the score again; for those of sacrebleu it is the signature that papers
    print.
    """

    name: str
    items: Items
    method: str
    higher_is_better: bool = True

    def score(self, **score_fields: Any) -> Score:
        """The value with its interval; `score_fields` are further fields of a score, such as its baseline."""
        return score_with_interval(
            self.name, self.items, method=self.method, higher_is_better=self.higher_is_better, **score_fields
        )


def items_by_name(scores: Iterable[DraftScore]) -> dict[str, Items]:
    """By name, as an evaluation wants them for slices and comparisons."""
    return {score.name: score.items for score in scores}
