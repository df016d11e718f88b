"""Annotations that mark spans of a text by where they start and end: recognized, and not read."""

from __future__ import annotations

from collections.abc import Sequence

from seqlab.core.errors import DataError
from seqlab.sources.base import Row, Source
from seqlab.sources.formats.spans import holds_spans

LOOKED_AT = 20
"""Rows in which spans are looked for."""


def refuse_spans(source: Source, rows: Sequence[Row], text: str) -> None:
    """A table of texts and spans without a label for the whole text: the spans are what it is about."""
    names = (
        name for name in source.columns if any(holds_spans(row.values.get(name)) for row in rows[:LOOKED_AT])
    )
    if column := next(names, ""):
        raise DataError(
            f"column '{column}' marks spans of the text by where they start and end, which is not supported.",
            where=source.name,
            cure=(
                "To find such spans, write a line with a word and its tag for every word (Ada<TAB>B-PER), a blank"
                f" line between sentences: a tagging task. The text alone: task=language_model data.text={text}"
            ),
        )
