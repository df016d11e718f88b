"""Cells with the words of a sentence, or with a tag for each of them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

from seqlab.core.errors import DataError
from seqlab.sources.base import Row, label_text

CURE = (
    "Fix the row, skip such rows with data.bad_rows=skip, or choose other columns with"
    " data.text=NAME and data.label=NAME."
)


def words_of(row: Row, column: str) -> list[str]:
    """A list of strings, as in tagged files and JSON; a plain string is split at whitespace."""
    value = row.values.get(column)
    words = value.split() if isinstance(value, str) else value
    if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
        raise DataError(f"column '{column}' does not contain a list of words.", where=row.where, cure=CURE)
    if not words:
        raise DataError(f"column '{column}' has no words.", where=row.where, cure=CURE)
    if any(not word.strip() for word in words):
        raise DataError(
            f"word {[bool(word.strip()) for word in words].index(False) + 1} of column '{column}' is empty.",
            where=row.where,
            cure=CURE,
        )
    return words


def tags_of(row: Row, column: str) -> list[str]:
    """A list of tags as text, stripped of whitespace: "NOUN " and "NOUN" are the same tag, and so are 3 in
    JSON and "3" in a tagged file.
    """
    value = row.values.get(column)
    parts = value.split() if isinstance(value, str) else value
    if not isinstance(parts, list):
        raise DataError(f"column '{column}' does not contain a list of tags.", where=row.where, cure=CURE)
    if not parts:
        raise DataError(f"column '{column}' has no tags.", where=row.where, cure=CURE)
    tags = [label_text(part) for part in parts]
    if not all(tags):
        raise DataError(
            f"tag {tags.index('') + 1} of column '{column}' is empty.", where=row.where, cure=CURE
        )
    return tags


def pairs_of(row: Row, *, words: str, tags: str) -> tuple[list[str], list[str]]:
    """The words of a sentence and their tags, one for each."""
    row_words, row_tags = words_of(row, words), tags_of(row, tags)
    if len(row_words) != len(row_tags):
        raise DataError(
            f"{len(row_words)} words in column '{words}', but {len(row_tags)} tags in column '{tags}'.",
            where=row.where,
            cure=CURE,
        )
    return row_words, row_tags


def tags_of_steps(row: Row, *, steps: str, tags: str) -> list[str]:
    """The tags of a sequence of numeric vectors, one for each."""
    row_steps, row_tags = row.values[steps], tags_of(row, tags)
    if len(row_steps) != len(row_tags):
        raise DataError(
            f"{len(row_steps)} steps, but {len(row_tags)} tags in column '{tags}'.",
            where=row.where,
            cure=CURE,
        )
    return row_tags


def holds_lists(rows: Sequence[Row], column: str) -> bool:
    """Whether every cell of a column is a list of strings (words, tags or labels) or missing, and some have
    any.
    """
    return _holds_lists_of(str, rows, column)


def holds_several(rows: Sequence[Row], column: str) -> bool:
    """Whether cells are lists of strings and some contain more than one: lists of one each are classes."""
    return holds_lists(rows, column) and any(len(row.values.get(column) or ()) > 1 for row in rows)


def holds_tags(rows: Sequence[Row], column: str) -> bool:
    """Whether the cells of a column are lists of tags: strings, or whole numbers, as in many published tables."""
    return _holds_lists_of(str, rows, column) or _holds_lists_of(int, rows, column)


def _holds_lists_of(kind: type, rows: Sequence[Row], column: str) -> bool:
    cells = [row.values.get(column) for row in rows]
    return any(cells) and all(
        cell is None or (isinstance(cell, list) and all(type(part) is kind for part in cell))
        for cell in cells
    )  # true is not a whole number


def are_paired(rows: Sequence[Row], words: Sequence[str], tags: Sequence[str]) -> bool:
    """Whether a column of possible words and one of possible tags have equal lengths in most rows."""
    lengths = {name: [len(row.values.get(name) or ()) for row in rows] for name in {*words, *tags}}
    return any(
        2 * sum(map(_are_as_many, lengths[word_cell], lengths[tag_cell])) > len(rows)
        for word_cell, tag_cell in product(words, tags)
        if word_cell != tag_cell
    )


def _are_as_many(num_words: int, num_tags: int) -> bool:
    return num_words == num_tags > 0
