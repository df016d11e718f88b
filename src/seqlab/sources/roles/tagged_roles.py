"""A table whose cells are sequences: words, or vectors of numbers, with a tag for each."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from seqlab.sources.column_names import SENTENCE_NAMES, TAG_NAMES, WORD_NAMES, is_named
from seqlab.sources.column_profile import ColumnProfile
from seqlab.sources.roles.base import ColumnRoles, RoleReason
from seqlab.sources.settings import DataSettings

SPAN_TAG = re.compile(r"O|[BILUES]-\S+")
"""B-PER, I-PER and the like."""


def word_roles(tokens: Sequence[str], columns: Sequence[str], data: DataSettings) -> ColumnRoles:
    """Columns of lists: the words of a sentence, and something for each of them."""
    words = data.text or next(
        (name for usual in WORD_NAMES for name in tokens if name.lower() == usual), tokens[0]
    )
    others = [name for name in columns if name != words]
    tags = data.label or _by_name(others, TAG_NAMES, otherwise=others[-1])
    reasons = (
        [] if data.text else [RoleReason("text", f"word column '{words}'; set data.text=NAME to change it")]
    )
    return ColumnRoles(
        "tags", words, tags, reasons=(*reasons, *_about_tags(tags, data)), evidence="a tag for every word"
    )


def word_row_roles(columns: Mapping[str, ColumnProfile], data: DataSettings) -> ColumnRoles | None:
    """A table with one row per word: a column that names the sentence, the word, and its tag; None if it is
    not such a table.
    """
    classes = {name: column for name, column in columns.items() if column.is_class and not column.is_number}
    words = data.text or _by_name(columns, WORD_NAMES, otherwise="")
    tags = data.label or _of_spans(classes) or _by_name(classes, TAG_NAMES, otherwise="")
    sentence = data.sequence or next((name for name in columns if _names_sentences(columns[name])), "")
    if not (
        words in columns and tags in columns and sentence in columns and len({words, tags, sentence}) == 3
    ):
        return None
    if columns[words].mean_words > 1.1 or columns[words].is_mostly_number:
        return None
    about = [
        *(
            []
            if data.text
            else [
                RoleReason(
                    "text", f"word column '{words}' (one word per row); set data.text=NAME to change it"
                )
            ]
        ),
        *([] if data.sequence else [RoleReason("sequence", _about_sentences(sentence))]),
    ]
    return ColumnRoles(
        "tags",
        words,
        tags,
        sentence,
        reasons=(*about, *_about_tags(tags, data)),
        evidence="a tag for every word",
    )


def _of_spans(columns: Mapping[str, ColumnProfile]) -> str:
    """The column whose tags mark spans; the table may also have parts of speech."""
    return next((name for name in columns if all(map(SPAN_TAG.fullmatch, columns[name].cells))), "")


def _names_sentences(column: ColumnProfile) -> bool:
    """Whether a column identifies the sentence of a word: in every row, or only in the first row of each sentence."""
    filled = column.num_rows - column.num_empty
    is_first_only = column.num_distinct == filled < column.num_rows / 2
    is_block = not column.num_empty and column.num_runs == column.num_distinct < column.num_rows / 2
    return is_named(column.name.rstrip("#"), SENTENCE_NAMES) and (is_first_only or is_block)


def _about_sentences(column: str) -> str:
    return f"sentence column '{column}'; set data.sequence=NAME to change it"


def frame_roles(vectors: Sequence[str], lists: Sequence[str], data: DataSettings) -> ColumnRoles:
    """A column with the numeric vectors of a sequence, and one with a tag for each of them."""
    features = data.features or (vectors[0],)
    tags = data.label or _by_name(lists, TAG_NAMES, otherwise=lists[0])
    sentence = f"numeric steps in column '{features[0]}'; set data.features=NAME to change it"
    reasons = [] if data.features else [RoleReason("features", sentence)]
    return ColumnRoles(
        "tags",
        "",
        tags,
        features=features[:1],
        reasons=(*reasons, *_about_tags(tags, data)),
        evidence="a tag for every step",
    )


def _by_name(columns: Iterable[str], names: Sequence[str], *, otherwise: str) -> str:
    """The column with the most common of the given names."""
    there = list(columns)
    return next((name for usual in names for name in there if is_named(name, [usual])), otherwise)


def _about_tags(tags: str, data: DataSettings) -> list[RoleReason]:
    return (
        [] if data.label else [RoleReason("label", f"tag column '{tags}'; set data.label=NAME to change it")]
    )
