"""Several text columns of a table as one: a title and a body, a question and an answer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from seqlab.core.errors import DataError
from seqlab.sources.base import Row, Source, require_columns, text_of

BETWEEN = "\x1f"
"""Joins the texts of two columns: the unit separator character, which does not occur in text."""


def names_of(text: str, columns: Sequence[str]) -> list[str]:
    """The columns that a setting names: one, or several separated by commas if there is no column
    of that name.

    >>> names_of("title, body", ["title", "body"]), names_of("Well, was it good?", ["Well, was it good?"])
    (['title', 'body'], ['Well, was it good?'])
    """
    names = [name.strip() for name in text.split(",")]
    return [text] if text in columns or len(names) < 2 else names


def parts_of(text: str, columns: Sequence[str]) -> list[str]:
    """The columns that were joined into the column `text`; empty if it is a column of the file."""
    names = [name.strip() for name in text.split(",")]
    return names if len(names) > 1 and all(name in columns for name in names) else []


def join_columns(source: Source, text: str) -> Source:
    """The source with an additional joined column, named like the setting, if the setting names several."""
    names = names_of(text, source.columns)
    return JoinedColumns(source, names, name=text) if len(names) > 1 else source


class JoinedColumns(Source):
    """Adds a column with the texts of several others, in order."""

    def __init__(self, whole: Source, parts: Sequence[str], *, name: str) -> None:
        require_columns(whole, parts)
        self.name, self.bad_rows = whole.name, whole.bad_rows
        self.columns = [*whole.columns, name]
        self._whole, self._parts, self._joined = whole, list(parts), name

    def rows(self) -> Iterator[Row]:
        reading = self.bad_rows.new_pass()
        for row in self._whole.rows():
            try:
                joined = join_texts(
                    ["" if row.values.get(part) is None else text_of(row, part) for part in self._parts]
                )  # one of several texts may be missing
            except DataError as error:
                reading.reject(error)
            else:
                yield Row({**row.values, self._joined: joined}, row.file, row.line)

    def fingerprint(self) -> str:
        return f"{self._whole.fingerprint()}:joined:{self._parts}"


def join_texts(texts: Sequence[str]) -> str:
    return BETWEEN.join(text.replace(BETWEEN, " ") for text in texts)


def join_named(value: Mapping[str, Any], parts: Sequence[str], *, where: str) -> str:
    """The texts of an object that is not from a file, one for each column."""
    if wrong := [part for part in parts if not isinstance(value.get(part), str)]:
        raise DataError(
            f"'{wrong[0]}' is missing or is not text.",
            where=where,
            cure=f'This run reads the texts {", ".join(parts)}; use "" for an empty one.',
        )
    return join_texts([value[part] for part in parts])
