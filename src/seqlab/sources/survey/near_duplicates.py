"""Near-duplicate texts, found without comparing every pair: MinHash.

A text is the set of its 8-byte shingles (of its letters and digits in lowercase). The similarity of two texts is that of
their sets:

    likeness(A, B) = |A ∩ B| / |A ∪ B|

Under a random order of all pieces, the first piece of A is the first piece of B with exactly this
probability; 32 orders give a sketch of 32 numbers. Texts whose sketches agree in all four numbers of at least
one of eight bands are candidates: 98.5% of those with likeness 0.8 are, and hardly any below 0.3. For
candidates the likeness is computed from the texts themselves.

Papers: Broder 1997, "On the resemblance and containment of documents"; banding: Indyk & Motwani 1998,
"Approximate Nearest Neighbors".
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from jaxtyping import Int, UInt64

PIECE = 8
SHORTEST = 40
"""Minimum number of letters; shorter texts are only compared exactly, since one word makes too much of a difference."""
ALIKE = 0.8
BANDS, ROWS = 8, 4
CANDIDATE = 0.6
"""Fraction of the sketch that must agree before two texts are compared directly."""
BESIDE = 4
"""Maximum number of earlier texts of the same band that a text is compared with."""
MOST_ROWS, MOST_LETTERS = 200_000, 100_000_000
"""Limits on what is sketched of one split: about ten seconds of work and 30 MB."""
_MIX, _MIX_AGAIN = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBF58476D1CE4E5B9)
_ORDERS = np.random.default_rng(1997).integers(1 << 31, size=(BANDS * ROWS, 1), dtype=np.int64).astype(
    np.uint32
) * np.uint32(2) + np.uint32(1)


class Sketches:
    """Sketches of the texts of one part, in the order of its rows."""

    def __init__(self) -> None:
        self._bytes = bytearray()
        self._rows = array("Q")
        self._letters = 0
        self.first_left_out: int | None = None

    def add(self, plain: bytes, row: int) -> None:
        """Sketch the text of a row, unless it is short or the limit is reached."""
        if len(plain) < SHORTEST or self.first_left_out is not None:
            return
        if len(self._rows) >= MOST_ROWS or self._letters >= MOST_LETTERS:
            self.first_left_out = row
            return
        self._letters += len(plain)
        self._rows.append(row)
        self._bytes += sketch(plain).tobytes()

    @property
    def rows(self) -> Int[np.ndarray, " rows"]:
        return np.frombuffer(self._rows, np.uint64).astype(np.int64)

    @property
    def table(self) -> np.ndarray[tuple[int, int], np.dtype[np.uint32]]:
        """(rows, 32)"""
        return np.frombuffer(self._bytes, np.uint32).reshape(-1, BANDS * ROWS)


@dataclass(frozen=True)
class NearDuplicate:
    """A row, the earlier row that it resembles, and their similarity."""

    row: int
    other: int
    likeness: float


def sketch(plain: bytes) -> np.ndarray[tuple[int], np.dtype[np.uint32]]:
    """The first piece of a text in each of 32 orders."""
    mixed = pieces(plain) * _MIX
    mixed ^= mixed >> np.uint64(29)
    mixed *= _MIX_AGAIN
    return ((mixed >> np.uint64(32)).astype(np.uint32)[None] * _ORDERS).min(axis=1)


def pieces(plain: bytes) -> UInt64[np.ndarray, " pieces"]:
    """All substrings of eight bytes, as numbers: a view with a stride of one byte."""
    return np.ndarray((max(0, len(plain) - PIECE + 1),), np.uint64, buffer=plain, strides=(1,))


def likeness(first: bytes, second: bytes) -> float:
    """
    >>> likeness(b"abcdefghijkl", b"abcdefghijkl"), round(likeness(b"abcdefghijkl", b"abcdefghijkx"), 2)
    (1.0, 0.67)
    """
    first_pieces, second_pieces = set(pieces(first).tolist()), set(pieces(second).tolist())
    return len(first_pieces & second_pieces) / len(first_pieces | second_pieces)


def candidates(first: Sketches, second: Sketches | None = None) -> list[tuple[int, int]]:
    """Pairs of rows that may be near-duplicates, likeliest first: a row of `second` and one of `first`, or a row of
    `first` and an earlier one.
    """
    tables = [first.table] if second is None else [first.table, second.table]
    everything, num_first = np.concatenate(tables), len(first.table)
    pairs = np.zeros((0, 2), np.int64)
    for band in range(BANDS):
        pairs = np.concatenate(
            [
                pairs,
                _in_one_band(
                    everything[:, band * ROWS : (band + 1) * ROWS], num_first, is_within=second is None
                ),
            ]
        )
    pairs = np.unique(pairs, axis=0)
    agreement = (everything[pairs[:, 0]] == everything[pairs[:, 1]]).mean(axis=1)
    chosen = pairs[agreement >= CANDIDATE][np.argsort(-agreement[agreement >= CANDIDATE], kind="stable")]
    rows = first.rows if second is None else np.concatenate([first.rows, second.rows])
    return [(int(rows[row]), int(rows[other])) for row, other in chosen.tolist()]


def _in_one_band(
    band: np.ndarray[tuple[int, int], np.dtype[np.uint32]], num_first: int, *, is_within: bool
) -> Int[np.ndarray, "pairs 2"]:
    """Pairs (later, earlier) that agree in one band; in a large group each is compared with only a few."""
    keys = np.ascontiguousarray(band).view([("", np.uint32)] * ROWS).ravel()
    _, groups = np.unique(keys, return_inverse=True)
    order = np.argsort(groups, kind="stable")  # inside a group the first part comes first
    groups = groups[order]
    starts = np.searchsorted(groups, groups, side="left")
    places = np.arange(len(order))
    pairs = []
    for back in range(1, BESIDE + 1):
        others = places - back if is_within else starts + back - 1
        fits = (others >= starts) & (others < places)
        pairs.append(np.stack([order[places[fits]], order[others[fits]]], axis=1))
    joined = np.concatenate(pairs)
    return joined if is_within else joined[(joined[:, 0] >= num_first) & (joined[:, 1] < num_first)]


def alike(
    pairs: Iterable[tuple[int, int]], texts: Mapping[int, bytes], others: Mapping[int, bytes]
) -> list[NearDuplicate]:
    """The pairs whose texts really are near-duplicates, one for each row: that with the likeliest candidate."""
    nearest: dict[int, NearDuplicate] = {}
    for row, other in pairs:
        if row not in nearest and (share := likeness(texts[row], others[other])) >= ALIKE:
            nearest[row] = NearDuplicate(row, other, share)
    return [nearest[row] for row in sorted(nearest)]
