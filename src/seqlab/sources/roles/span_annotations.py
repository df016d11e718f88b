"""Annotations that mark spans of a text by start and end offsets: recognized but not supported."""

from __future__ import annotations

from collections.abc import Sequence

from seqlab.core.errors import DataError
from seqlab.sources.base import Row, Source
from seqlab.sources.formats.spans import holds_spans

LOOKED_AT = 20
"""Number of rows searched for spans."""
REVIEWS = {"accept", "reject", "ignore"}
TASK_HASHES = ("_input_hash", "_task_hash")


def is_review(source: Source, rows: Sequence[Row], column: str) -> bool:
    """Whether a column tells what an annotator of Prodigy thought of the annotation, which is not a label of the text."""
    return (
        column in source.columns
        and any(name in source.columns for name in TASK_HASHES)
        and all(row.values.get(column) in REVIEWS for row in rows)
    )


def reject_spans(source: Source, rows: Sequence[Row], text: str) -> None:
    """Reject a table of texts with spans but no label for the whole text: the spans are its labels."""
    cells = {name: [row.values.get(name) for row in rows[:LOOKED_AT]] for name in source.columns}
    names = [name for name in source.columns if any(map(holds_spans, cells[name]))]
    # The tokens of a text are spans without a label.
    labeled = [name for name in names if any(holds_spans(cell, labeled=True) for cell in cells[name])]
    if column := next(iter([*labeled, *names]), ""):
        raise DataError(
            f"column '{column}' annotates spans of the text by start and end offsets, which is not"
            " supported.",
            where=source.name,
            cure=(
                "To train a tagger on such spans, write one line per word with its tag (Ada<TAB>B-PER)"
                " and a blank line between sentences. To use only the text, set task=language_model"
                f" data.text={text}"
            ),
        )
