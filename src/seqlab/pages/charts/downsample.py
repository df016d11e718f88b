"""Downsample a line to far fewer points that draw the same curve."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

Point = tuple[float, float]


def split_at_gaps(points: Sequence[Point | None]) -> list[list[Point]]:
    """The segments of a line without gaps (None)."""
    grouped = groupby(points, key=lambda point: point is None)
    return [[point for point in run if point is not None] for is_gap, run in grouped if not is_gap]


def downsample(points: Sequence[Point]) -> list[Point]:
    """Keep the first, lowest, highest and last point of every pixel column: a line through these covers the
    same pixels.

    Points are in pixels and ordered by x.
    """
    kept: list[Point] = []
    for _, column in groupby(points, key=lambda point: int(point[0])):
        kept.extend(_outline(list(column)))
    return kept


def _outline(column: Sequence[Point]) -> Iterator[Point]:
    rows = range(len(column))
    lowest, highest = min(rows, key=lambda i: column[i][1]), max(rows, key=lambda i: column[i][1])
    for index in sorted({0, lowest, highest, len(column) - 1}):
        yield column[index]
