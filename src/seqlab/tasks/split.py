"""One encoded part of the data: train, valid, test, or new data."""

from __future__ import annotations

from dataclasses import dataclass

from seqlab.batches.batch import Batch
from seqlab.batches.store import Store
from seqlab.sources.base import Source

MAX_LINES = 5
"""Maximum number of line numbers in the description of a batch."""


@dataclass(frozen=True)
class Split:
    """The original rows of a part of the data, and the same examples as arrays."""

    name: str
    rows: Source
    store: Store
    notes: tuple[str, ...] = ()
    """Notes for the user about this part."""

    def describe_rows(self, batch: Batch, *, noun: str = "rows") -> str:
        """Say where the examples of a batch are in the file, for messages; the store must have a column
        `line`.
        """
        lines = sorted(self.store["line"][batch.rows.cpu().numpy()].tolist())
        first = ", ".join(map(str, lines[:MAX_LINES])) + (" …" if len(lines) > MAX_LINES else "")
        return f"batch of {len(lines)} {noun}, lines {first} of {self.rows.name}"
