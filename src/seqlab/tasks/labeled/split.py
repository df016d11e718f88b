"""An encoded split of labeled data, and its batches: shuffled for training, each example once for
evaluation.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence, Sized
from dataclasses import dataclass
from typing import Protocol, TypeVar

from seqlab.batches.batch import Batch
from seqlab.batches.loader import Cursor, Loader, one_pass
from seqlab.batches.samplers import BucketSampler, Indices, LengthOrderSampler, ShuffledSampler
from seqlab.batches.stored_column import StoredColumn
from seqlab.sources.base import Row
from seqlab.tasks.split import Split
from seqlab.training.settings import TrainingSettings

EVALUATION_BATCH, EVALUATION_STEPS = 256, 32_768
"""Maximum number of sequences, and of padded steps, in an evaluation batch."""
MAX_PADDED_SIZE = 1 << 18
"""Maximum size of a batch including padding, in characters, words or steps, so that a very long input does
not fill a batch with padding.
"""


@dataclass(frozen=True, kw_only=True)
class LabeledSplit(Split):
    """Sequences with their labels. Splits that are scored are stored in full: example i is the i-th row."""

    steps: StoredColumn
    """The encoded inputs."""
    input_column: str
    """The column of `rows` with the inputs."""

    def __len__(self) -> int:
        """The number of examples."""
        return len(self.store)

    def rows_at(self, numbers: Collection[int]) -> dict[int, Row]:
        """Return some rows of the file by number."""
        if not numbers:
            return {}
        chosen = set(numbers)
        return {number: row for number, row in enumerate(self.rows.rows()) if number in chosen}


AnySplit = TypeVar("AnySplit", bound=LabeledSplit, contravariant=True)


class Collator(Protocol[AnySplit]):
    """A codec that builds batches."""

    def collate(self, split: AnySplit, rows: Indices) -> Batch:
        """Build a batch from some examples of a split."""


def training_loader(
    codec: Collator[AnySplit], split: AnySplit, training: TrainingSettings, cursor: Cursor
) -> Loader:
    """Load shuffled batches; with `training.group_by_length`, a batch has sequences of similar length."""
    size, seed = min(training.batch_size, len(split)), training.seed
    sampler = (
        BucketSampler(split.steps.lengths, batch_size=size, seed=seed)
        if training.group_by_length
        else ShuffledSampler(len(split), batch_size=size, seed=seed)
    )
    return Loader(sampler, lambda rows, _: codec.collate(split, rows), cursor=cursor)


def evaluation_batches(codec: Collator[AnySplit], split: AnySplit) -> Iterable[Batch]:
    """Yield every example once, with sequences of similar length in a batch."""
    sampler = LengthOrderSampler(
        split.steps.lengths, batch_size=EVALUATION_BATCH, most_steps=EVALUATION_STEPS
    )
    return one_pass(sampler, lambda rows, _: codec.collate(split, rows))


def prediction_batches(rows: Sequence[Row], column: str) -> Iterator[list[Row]]:
    """Yield rows in order, in batches; a row that is too long to share a batch is alone in it.

    >>> rows = [Row({"text": text}, "input", 1) for text in ("a", "b" * MAX_PADDED_SIZE, "c", "d")]
    >>> [len(batch) for batch in prediction_batches(rows, "text")]
    [1, 1, 2]
    """
    batch: list[Row] = []
    longest = 0
    for row in rows:
        value = row.values[column]
        length = len(value) if isinstance(value, Sized) else 1  # rejected later, with its number
        longest = max(longest, length)
        if len(batch) == EVALUATION_BATCH or (batch and longest * (len(batch) + 1) > MAX_PADDED_SIZE):
            yield batch
            batch, longest = [], length
        batch.append(row)
    if batch:
        yield batch
