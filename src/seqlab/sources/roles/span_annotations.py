"""Annotations that mark spans of a text by start and end offsets: recognized but not supported."""

from __future__ import annotations

from collections.abc import Sequence

from seqlab.core.errors import DataError
from seqlab.sources.base import Row, Source
from seqlab.sources.formats.spans import holds_spans

LOOKED_AT = 20
"""Number of rows searched for spans."""


def refuse_spans(source: Source, rows: Sequence[Row], text: str) -> None:
    """Reject a table of texts with spans but no label for the whole text: the spans are its labels."""
    names = (
        name for name in source.columns if any(holds_spans(row.values.get(name)) for row in rows[:LOOKED_AT])
    )
    if column := next(names, ""):
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
