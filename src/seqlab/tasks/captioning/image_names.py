"""Names of image files as a survey compares them: equal or not, never nearly."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

from seqlab.sources.base import Row, Source


class ImageNames(Source):
    """The rows of a table with a number in place of each file name: dog_1.jpg and dog_2.jpg are different
    images, however similar the names are.
    """

    def __init__(self, whole: Source, column: str) -> None:
        self.name, self.bad_rows, self.columns = whole.name, whole.bad_rows, whole.columns
        self._whole, self._column = whole, column

    def rows(self) -> Iterator[Row]:
        for row in self._whole.rows():
            cell = row.values.get(self._column)
            yield (
                Row({**row.values, self._column: [_number(cell)]}, row.file, row.line)
                if isinstance(cell, str)
                else row
            )

    def fingerprint(self) -> str:
        return f"{self._whole.fingerprint()}:names:{self._column}"


def _number(name: str) -> int:
    """48 bits, which a float holds exactly."""
    return int.from_bytes(
        hashlib.blake2b(name.strip().encode("utf-8", "surrogatepass"), digest_size=6).digest(), "big"
    )
