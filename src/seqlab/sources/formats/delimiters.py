"""Which character stands between the columns of a table."""

from __future__ import annotations

import csv
from collections.abc import Sequence

CANDIDATES = (",", ";", "\t", "|")


def guess_delimiter(lines: Sequence[str]) -> str:
    """The candidate that cuts the most lines into as many fields as the header has, and then into the most
    fields.

    >>> guess_delimiter(["text;label", "good, really good;pos", "bad;neg"])
    ';'
    """

    def score(delimiter: str) -> tuple[float, int]:
        widths = [len(fields) for fields in _cut(lines, delimiter) if fields]
        if not widths or widths[0] < 2:
            return (0.0, 0)
        return (sum(width == widths[0] for width in widths) / len(widths), widths[0])

    return max(CANDIDATES, key=score)  # the first of equals: a table of one column counts as comma separated


def _cut(lines: Sequence[str], delimiter: str) -> list[list[str]]:
    rows = []
    try:
        for fields in csv.reader(lines, delimiter=delimiter):
            rows.append(fields)
    except csv.Error:
        pass  # what was cut so far is enough for a guess; the reader itself will report the mistake
    return rows
