"""Words in a table with one row per word -> one row per sentence, with a list of words and one of tags."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from seqlab.core.errors import DataError
from seqlab.sources.base import Row, Source, is_empty, label_of, require_columns, text_of
from seqlab.sources.splitting import cell_text


class WordRows(Source):
    """Groups the rows of a table by their sentence column. A sentence may be named in each of its rows or, as in
    spreadsheets, only in the first.

    tags: empty if there are none.
    """

    def __init__(self, table: Source, *, sentence: str, words: str, tags: str = "") -> None:
        self.columns = [words, *([tags] if tags else []), sentence]
        require_columns(table, self.columns)
        self.name, self.bad_rows = table.name, table.bad_rows
        self._table, self._sentence, self._words, self._tags = table, sentence, words, tags

    def rows(self) -> Iterator[Row]:
        reading = self.bad_rows.new_pass()
        for name, rows in sentences(self._table.rows(), self._sentence):
            try:
                values = {self._words: [text_of(row, self._words).strip() for row in rows]}
                if self._tags:
                    values[self._tags] = [label_of(row, self._tags).strip() for row in rows]
            except DataError as error:
                reading.reject(error)  # one bad word makes the whole sentence unusable
            else:
                yield Row({**values, self._sentence: name}, rows[0].file, rows[0].line)

    def fingerprint(self) -> str:
        return f"{self._table.fingerprint()}:words:{self.columns}"


def sentences(rows: Iterable[Row], column: str) -> Iterator[tuple[str, list[Row]]]:
    """The rows of each sentence; an empty name continues the sentence above."""
    name, group = "", list[Row]()
    for row in rows:
        value = row.values.get(column)
        named = "" if is_empty(value) else cell_text(value).strip()
        if named and named != name and group:
            yield name, group
            group = []
        name = named or name
        group.append(row)
    if group:
        yield name, group
