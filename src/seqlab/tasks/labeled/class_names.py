"""The class names of a row, for counts and splits."""

from __future__ import annotations

from collections.abc import Callable

from seqlab.core.errors import DataError
from seqlab.sources.base import Row


def names_or_nothing(read: Callable[[Row], list[str]]) -> Callable[[Row], list[str]]:
    """Names as `read` gives them, and none for a row that cannot be used: such a row is reported where it is
    used.
    """

    def names(row: Row) -> list[str]:
        try:
            return read(row)
        except DataError:
            return []

    return names
