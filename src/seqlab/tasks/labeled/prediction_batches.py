"""New inputs in batches that fit into memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from seqlab.sources.base import Row
from seqlab.tasks.labeled.batches import EVALUATION_BATCH

MAX_PADDED_SIZE = 1 << 18
"""Characters, words or steps of a batch including padding: next to a very long input, others would be mostly
padding.
"""


def prediction_batches(rows: Sequence[Row], column: str) -> Iterator[list[Row]]:
    """Rows in their order, some at a time; one that is too long to share a batch is alone in it.

    >>> rows = [Row({"text": text}, "input", 1) for text in ("a", "b" * MAX_PADDED_SIZE, "c", "d")]
    >>> [len(batch) for batch in prediction_batches(rows, "text")]
    [1, 1, 2]
    """
    batch: list[Row] = []
    longest = 0
    for row in rows:
        longest = max(longest, len(row.values[column]))
        if len(batch) == EVALUATION_BATCH or (batch and longest * (len(batch) + 1) > MAX_PADDED_SIZE):
            yield batch
            batch, longest = [], len(row.values[column])
        batch.append(row)
    if batch:
        yield batch
