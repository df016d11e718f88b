"""An encoded part of labeled data."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from seqlab.batches.stored_column import StoredColumn
from seqlab.sources.base import Row
from seqlab.tasks.split import Split


@dataclass(frozen=True, kw_only=True)
class LabeledSplit(Split):
    """Sequences with their labels. What is scored is stored whole: its example i is the i-th row."""

    steps: StoredColumn
    """The encoded inputs."""
    input_column: str
    """The column of `rows` that holds the inputs."""

    def __len__(self) -> int:
        """The number of examples."""
        return len(self.store)

    def rows_at(self, numbers: Collection[int]) -> dict[int, Row]:
        """Some rows by their number, as they are in the file."""
        if not numbers:
            return {}
        chosen = set(numbers)
        return {number: row for number, row in enumerate(self.rows.rows()) if number in chosen}
