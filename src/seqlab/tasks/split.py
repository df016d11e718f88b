"""One encoded part of the data: train, valid, test, or further data."""

from __future__ import annotations

from dataclasses import dataclass

from seqlab.batches.batch import Batch
from seqlab.batches.store import Store
from seqlab.sources.base import Source

MAX_LINES = 5
"""Line numbers in the description of a batch."""


@dataclass(frozen=True)
class Split:
    """The rows of a part as they are in the file, and the same examples as arrays."""

    name: str
    rows: Source
    store: Store
    notes: tuple[str, ...] = ()
    """What the user should know about this part."""

    def describe_rows(self, batch: Batch, *, noun: str = "rows") -> str:
        """Where the examples of a batch are in the file, for messages; the store has a column `line`."""
        lines = sorted(self.store["line"][batch.rows.cpu().numpy()].tolist())
        first = ", ".join(map(str, lines[:MAX_LINES])) + (" …" if len(lines) > MAX_LINES else "")
        return f"batch of {len(lines)} {noun}, lines {first} of {self.rows.name}"
