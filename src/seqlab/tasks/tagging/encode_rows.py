"""Encode tagged rows into a store with the steps of every sequence and the tag that each step predicts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from seqlab.batches.columns import SequenceColumn, StepColumn
from seqlab.batches.store_writer import StoreWriter
from seqlab.core.errors import DataError
from seqlab.metrics.spans import TaggingScheme
from seqlab.sources.base import Row
from seqlab.tasks.tagging.inputs import TaggedInputs
from seqlab.tasks.tagging.rows import TaggedRows
from seqlab.tasks.tagging.span_scores import SpanRules
from seqlab.tokens.labels import Labels

NO_TAG = -1
"""The target of a step without a tag: padding, and all pieces of a word but the last."""


@dataclass(frozen=True)
class LengthLimits:
    """The maximum length of a stored sequence."""

    piece: int
    """Longer sequences are stored in pieces of this many steps; 0 keeps them whole."""
    positions: int
    """Number of positions of the network; 0 for no limit."""

    def check(self, steps: NDArray[Any], row: Row) -> None:
        """Reject a sequence that is kept whole but is too long for the network."""
        if not self.piece and 0 < self.positions < len(steps):
            raise DataError(
                f"the sequence has {len(steps):,} steps, but the model reads at most {self.positions:,}.",
                where=row.where,
                cure=(
                    f"Split or remove it, or train with model.max_positions={len(steps)} or more, or"
                    " with model.positions=sinusoidal."
                ),
            )

    def note(self, num_cut: int, num_sequences: int) -> str:
        """Return a note for the user about sequences in pieces; empty if there are none."""
        if not num_cut:
            return ""
        cure = "a larger model.max_positions" if self.piece == self.positions else "data.max_length=0"
        return (
            f"{num_cut:,} of {num_sequences:,} sequences are longer than {self.piece:,} steps and are split for"
            f" training; set {cure} to keep them whole"
        )


def encode_rows(
    rows: TaggedRows,
    folder: Path,
    *,
    inputs: TaggedInputs,
    labels: Labels,
    scheme: TaggingScheme | None,
    limits: LengthLimits,
) -> None:
    """Write the store of a split."""
    columns = [
        inputs.step_column,
        StepColumn("tags", np.dtype(np.int32)),
        SequenceColumn("line", np.dtype(np.int64)),
    ]
    writer = StoreWriter(folder, columns)
    rules = None if scheme is None else SpanRules(scheme)
    num_sequences = num_cut = 0
    for row, steps, places in inputs.encode_tagged(rows.rows()):
        limits.check(steps, row)
        names = rows.pairs(row)[1]
        tags = _tag_ids(names, labels, len(steps), places, where=row.where)
        for piece in split_into_pieces(tags, limits.piece):
            writer.append(**{columns[0].name: steps[piece], "tags": tags[piece], "line": row.line})
        num_sequences += 1
        num_cut += 0 < limits.piece < len(steps)
        if rules is not None:
            rules.look(names, where=row.where)
    writer.finish(
        skipped=rows.bad_rows.sentence(),
        rules="" if rules is None else rules.sentence(),
        pieces=limits.note(num_cut, num_sequences),
    )


def _tag_ids(
    names: Sequence[str], labels: Labels, length: int, places: NDArray[np.int64], *, where: str
) -> NDArray[np.int32]:
    tags = np.full(length, NO_TAG, np.int32)
    tags[places] = [labels.encode(name, where=where) for name in names]
    return tags


def split_into_pieces(tags: NDArray[np.int32], max_length: int) -> list[slice]:
    """Split a sequence into slices of at most `max_length` steps (0: one slice), without pieces that have no tag.

    >>> split_into_pieces(np.array([0, 1, NO_TAG, NO_TAG, 2], np.int32), 2)
    [slice(0, 2, None), slice(4, 6, None)]
    """
    size = max_length or max(1, len(tags))
    pieces = [slice(start, start + size) for start in range(0, len(tags), size)]
    return [piece for piece in pieces if (tags[piece] != NO_TAG).any()]
