"""The base of evaluators for labeled rows, with scores by length and by the share of rare tokens."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any, TypeVar

import numpy as np

from seqlab.metrics.items import Items
from seqlab.metrics.slices import (
    ScoreSlices,
    assign_groups,
    parts_of_items,
    quartile_edges,
    range_labels,
    slice_scores,
)
from seqlab.tasks.codec import Codec
from seqlab.tasks.evaluator import Evaluator
from seqlab.tasks.labeled.split import LabeledSplit
from seqlab.tasks.predictor import Predictor
from seqlab.tasks.text.token_counts import count_tokens
from seqlab.tokens.vocabulary import UNK, Vocabulary

MAX_MISTAKES = 25
"""Number of wrong examples in a report."""

AnyCodec = TypeVar("AnyCodec", bound=Codec)
AnySplit = TypeVar("AnySplit", bound=LabeledSplit)
AnyPredictor = TypeVar("AnyPredictor", bound=Predictor[Any, Any])
RARE = 5
"""Tokens with fewer occurrences in the training split are rare."""


class LabeledEvaluator(Evaluator[AnyCodec, AnySplit, AnyPredictor]):
    """Finds the rows behind the items of a split."""

    @property
    def first_split(self) -> str:
        """The split whose report also tells about the training rows."""
        return "test" if "test" in self.splits else "valid"

    def locate_items(self, split: str) -> Iterable[tuple[str, int]]:
        return ((row.file, row.line) for row in self.splits[split].rows.rows())

    def show_items(self, split: str, numbers: Collection[int]) -> dict[int, tuple[str, Any]]:
        encoded = self.splits[split]
        return {
            number: (row.where, row.values[encoded.input_column])
            for number, row in encoded.rows_at(numbers).items()
        }


def slices_of_rows(
    items: Items,
    *,
    score: str,
    split: LabeledSplit,
    train: LabeledSplit | None,
    vocabulary: Vocabulary | None,
) -> list[ScoreSlices]:
    """Return scores by number of steps and, for text, by the share of rare or out-of-vocabulary tokens.

    score: the name of the score. vocabulary: the tokens; None if steps are numbers.
    """
    steps, lengths = split.steps, split.steps.lengths
    groups = assign_groups(lengths, quartile_edges(lengths))
    unit = "steps" if vocabulary is None else "tokens"
    by_length = slice_scores(
        f"{unit} in the input",
        score=score,
        unit="rows",
        parts=parts_of_items(items, groups, range_labels(lengths, groups)),
    )
    if train is None or vocabulary is None:
        return by_length
    is_rare = count_tokens(train.steps, len(vocabulary)) < RARE
    if UNK in vocabulary.ids:
        is_rare[vocabulary.ids[UNK]] = True
    rare = np.add.reduceat(
        is_rare[steps.window(0, steps.num_steps)].astype(np.int64), steps.offsets[:-1]
    )  # every row has a token
    shares = 100 * rare / lengths
    groups = assign_groups(shares, sorted({0.0, *quartile_edges(shares)}))
    by = f"share of rare tokens (fewer than {RARE} times in training, or out of vocabulary)"
    return by_length + slice_scores(
        by,
        score=score,
        unit="rows",
        parts=parts_of_items(items, groups, range_labels(shares, groups, _percent)),
    )


def _percent(value: float) -> str:
    """
    >>> _percent(0.0), _percent(0.123), _percent(12.6)
    ('0%', '0.12%', '13%')
    """
    return f"{value:.2g}%" if 0 < value < 10 else f"{value:.0f}%"
