"""A table whose cells are sequences: words, or vectors of numbers, with a tag for each."""

from __future__ import annotations

from collections.abc import Sequence

from seqlab.sources.column_names import TAG_NAMES, WORD_NAMES, is_named
from seqlab.sources.roles.base import ColumnRoles, RoleReason
from seqlab.sources.settings import DataSettings


def word_roles(tokens: Sequence[str], columns: Sequence[str], data: DataSettings) -> ColumnRoles:
    """Columns of lists: the words of a sentence, and something for each of them."""
    words = data.text or next(
        (name for usual in WORD_NAMES for name in tokens if name.lower() == usual), tokens[0]
    )
    others = [name for name in columns if name != words]
    tags = data.label or _tags(others, otherwise=others[-1])
    reasons = [] if data.text else [RoleReason("text", f"words in column '{words}'; another: data.text=NAME")]
    return ColumnRoles(
        "tags", words, tags, reasons=(*reasons, *_about_tags(tags, data)), evidence="a tag for every word"
    )


def frame_roles(vectors: Sequence[str], lists: Sequence[str], data: DataSettings) -> ColumnRoles:
    """A column with the number vectors of a sequence, and one with a tag for each of them."""
    features = data.features or (vectors[0],)
    tags = data.label or _tags(lists, otherwise=lists[0])
    sentence = f"steps of numbers in column '{features[0]}'; another: data.features=NAME"
    reasons = [] if data.features else [RoleReason("features", sentence)]
    return ColumnRoles(
        "tags",
        "",
        tags,
        features=features[:1],
        reasons=(*reasons, *_about_tags(tags, data)),
        evidence="a tag for every step",
    )


def _tags(columns: Sequence[str], *, otherwise: str) -> str:
    return next((name for usual in TAG_NAMES for name in columns if is_named(name, [usual])), otherwise)


def _about_tags(tags: str, data: DataSettings) -> list[RoleReason]:
    return [] if data.label else [RoleReason("label", f"tags in column '{tags}'; another: data.label=NAME")]
