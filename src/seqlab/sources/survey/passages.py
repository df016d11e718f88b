"""Long passages of one text that also occur in another: what a language model may have memorized.

Every 50 consecutive characters are a window. A window of the second text counts as repeated
if it also occurs in the first. Windows are stored as 64-bit hashes. For a long text, only those are kept
whose hash ends in a number of zero bits, in both texts, so that the fraction stays unbiased and memory bounded.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice

import numpy as np
from jaxtyping import Int, UInt64

from seqlab.sources.base import Source, TextSource, text_of

WINDOW = 50
MOST_KEPT = 4_000_000
"""Maximum number of hashes stored for one text: 64 MB with their positions."""
CHUNK = 1 << 18
_BASE = 0x100000001B3
_MASK = (1 << 64) - 1


@dataclass(frozen=True)
class Repeats:
    """Windows of a text that also occur in the training text.

    `kept` is the fraction of all windows that were compared.
    """

    share: float
    windows: int
    kept: float
    first: str = ""
    also: str = ""
    starts: Int[np.ndarray, " repeats"] = field(default_factory=lambda: np.zeros(0, np.int64), repr=False)
    """Start positions of the repeated windows, in characters from the start of the text."""
    looked_at: Int[np.ndarray, " windows"] = field(default_factory=lambda: np.zeros(0, np.int64), repr=False)


class Passages:
    """The windows of one text."""

    def __init__(self, source: Source, *, column: str) -> None:
        self._source, self._column = source, column
        self.kept_bits = 0
        hashes, places = [np.zeros(0, np.uint64)], [np.zeros(0, np.int64)]
        for start, window_hashes in _windows(source, column):
            mine = _keep(window_hashes, self.kept_bits)
            hashes.append(window_hashes[mine])
            places.append(start + mine)
            while sum(map(len, hashes)) > MOST_KEPT:
                self.kept_bits += 1
                selected = [_keep(part, self.kept_bits) for part in hashes]
                hashes = [part[chosen] for part, chosen in zip(hashes, selected, strict=True)]
                places = [part[chosen] for part, chosen in zip(places, selected, strict=True)]
        everything, where = np.concatenate(hashes), np.concatenate(places)
        order = np.argsort(everything, kind="stable")
        self._hashes, self._places = everything[order], where[order]

    def repeats_in(self, source: Source) -> Repeats:
        """How much of another text also occurs in this one."""
        starts, looked_at = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
        first: tuple[int, int] | None = None
        for begin, hashes in _windows(source, self._column):
            mine = _keep(hashes, self.kept_bits)
            at = np.minimum(np.searchsorted(self._hashes, hashes[mine]), max(0, len(self._hashes) - 1))
            is_repeated = (
                self._hashes[at] == hashes[mine] if len(self._hashes) else np.zeros(len(mine), np.bool_)
            )
            looked_at.append(begin + mine)
            starts.append(begin + mine[is_repeated])
            if first is None and is_repeated.any():
                hit = int(np.flatnonzero(is_repeated)[0])
                first = begin + int(mine[hit]), int(self._places[at[hit]])
        windows, repeated = np.concatenate(looked_at), np.concatenate(starts)
        here, there = (
            ("", "")
            if first is None
            else (_where(source, self._column, first[0]), _where(self._source, self._column, first[1]))
        )
        share = len(repeated) / len(windows) if len(windows) else 0.0
        return Repeats(share, len(windows), 0.5**self.kept_bits, here, there, repeated, windows)


def _windows(source: Source, column: str) -> Iterator[tuple[int, UInt64[np.ndarray, " windows"]]]:
    """The hashes of all windows of a text, chunk by chunk, each with the position of the first."""
    begin, before = 0, ""
    for chunk in _texts(source, column):
        text = before + chunk
        if len(text) < WINDOW:
            before = text
            continue
        yield begin, hashes_of(text)
        before = text[len(text) - WINDOW + 1 :]
        begin += len(text) - len(before)


def hashes_of(text: str) -> UInt64[np.ndarray, " windows"]:
    """A polynomial in the letters of each window, from sums over 2, 16 and 32 letters that are doubled from
    one.

    hash(window) = Σ_i letter_i · base^(49 - i)   modulo 2^64, then mixed
    """
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32).astype(np.uint64)
    sums = {1: (codes + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)}
    for size in (1, 2, 4, 8, 16):
        half = sums[size]
        sums[2 * size] = half[:-size] * _power(size) + half[size:]
    count = len(codes) - WINDOW + 1
    hashes = sums[32][:count] * _power(18) + sums[16][32 : 32 + count] * _power(2) + sums[2][48 : 48 + count]
    hashes ^= hashes >> np.uint64(31)
    hashes *= np.uint64(0xBF58476D1CE4E5B9)
    hashes ^= hashes >> np.uint64(29)
    return hashes


def _power(exponent: int) -> np.uint64:
    return np.uint64(pow(_BASE, exponent, _MASK + 1))


def _keep(hashes: UInt64[np.ndarray, " windows"], bits: int) -> Int[np.ndarray, " kept"]:
    """The positions of the hashes that end in this many zero bits."""
    return np.flatnonzero(hashes & np.uint64((1 << bits) - 1) == 0) if bits else np.arange(len(hashes))


def _texts(source: Source, column: str) -> Iterator[str]:
    """The text as a language model reads it, in pieces."""
    if isinstance(source, TextSource):
        yield from source.chunks(CHUNK)
        return
    waiting, size = list[str](), 0
    for row in source.rows():
        waiting.append(text_of(row, column) + "\n")
        size += len(waiting[-1])
        if size >= CHUNK:
            yield "".join(waiting)
            waiting, size = [], 0
    yield "".join(waiting)


def _where(source: Source, column: str, place: int) -> str:
    """The file and line of a character."""
    if isinstance(source, TextSource):
        lines = 0
        for text in source.chunks(CHUNK):
            lines += text.count("\n", 0, place) if place > 0 else 0
            place -= len(text)
        return next((row.where for row in islice(source.rows(), lines, None)), source.name)
    for row in source.rows():
        place -= len(text_of(row, column)) + 1
        if place < 0:
            return row.where
    return source.name
