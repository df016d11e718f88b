"""A score before its interval is computed: its items, its direction, and its method."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from seqlab.metrics.items import Items
from seqlab.metrics.score import Score
from seqlab.metrics.score_with_interval import score_with_interval


@dataclass(frozen=True)
class DraftScore:
    """`method` describes how to reproduce the score; for sacrebleu's scores it is the signature reported
    in papers.
    """

    name: str
    items: Items
    method: str
    higher_is_better: bool = True

    def score(self, **score_fields: Any) -> Score:
        """Compute the value and its interval; `score_fields` are further fields of the score, such as its
        baseline.
        """
        return score_with_interval(
            self.name, self.items, method=self.method, higher_is_better=self.higher_is_better, **score_fields
        )


def items_by_name(scores: Iterable[DraftScore]) -> dict[str, Items]:
    """The items by name, for slices and comparisons."""
    return {score.name: score.items for score in scores}
