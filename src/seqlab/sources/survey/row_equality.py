"""When two rows are equal (exactly, or up to case, punctuation and whitespace), and the rows of a split as hashes,
to find duplicates within a split, in another split, or with a different label.
"""

from __future__ import annotations

import hashlib
import re
from array import array
from collections.abc import Sequence
from typing import Any

import numpy as np
from jaxtyping import Int, UInt64

from seqlab.sources.base import Row, place_of
from seqlab.sources.survey.near_duplicates import Sketches

NO_LETTER = bytes(code for code in range(128) if not chr(code).isalnum())
NO_LETTERS = re.compile(r"\W+")
BETWEEN = "\x1f"


def content_of(value: Any) -> bytes:
    """The content of a cell as bytes: text, a list of words or tags, or the numbers of a series."""
    if isinstance(value, str):
        return value.encode("utf-8", "surrogatepass")
    if is_words(value):
        return BETWEEN.join(value).encode("utf-8", "surrogatepass")
    try:
        numbers = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        return repr(value).encode("utf-8", "surrogatepass")
    return repr(numbers.shape).encode() + np.ascontiguousarray(numbers).tobytes()


def plain_text_of(value: Any) -> bytes:
    """Only letters and digits, in lowercase; empty if a cell contains no text.

    >>> plain_text_of("Don't  STOP!"), plain_text_of(["don't", "stop"]), plain_text_of([1.5])
    (b'dontstop', b'dontstop', b'')
    """
    if not isinstance(value, str):
        return plain_text_of("".join(value)) if is_words(value) else b""
    if value.isascii():
        return value.lower().encode().translate(None, NO_LETTER)
    letters = (
        value.casefold().encode("utf-8", "surrogatepass").translate(None, NO_LETTER)
    )  # most removed characters are ASCII, which this removes fastest
    return NO_LETTERS.sub("", letters.decode("utf-8", "surrogatepass")).encode("utf-8", "surrogatepass")


def is_words(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(word, str) for word in value)


def key_of(content: bytes) -> int:
    """A 64-bit hash of some content, the same in every process."""
    return int.from_bytes(hashlib.blake2b(content, digest_size=8).digest(), "big")


EXACT, PLAIN, NEAR = 0, 1, 2
"""How a row occurs elsewhere: exactly; ignoring case, punctuation and whitespace; nearly."""

Hashes = UInt64[np.ndarray, " rows"]


class RowHashes:
    """For every non-empty row: two hashes, its label's hash, its position, and a sketch of its text."""

    def __init__(self) -> None:
        self._keys, self._plain, self._labels = array("Q"), array("Q"), array("Q")
        self._files: list[str] = []
        self._file_of, self._line_of = array("L"), array("L")
        self.sketches = Sketches()

    def add(self, row: Row, key: int, plain: bytes, *, label: int) -> None:
        if not self._files or self._files[-1] != row.file:
            self._files.append(row.file)
        self.sketches.add(plain, len(self._keys))
        self._keys.append(key)
        self._plain.append(
            key_of(plain) if plain else key
        )  # numbers, and texts without letters, are compared exactly
        self._labels.append(label)
        self._file_of.append(len(self._files) - 1)
        self._line_of.append(row.line)

    def close(self) -> int:
        """How many rows repeat an earlier one."""
        return len(self._keys) - len(np.unique(self.keys))

    @property
    def keys(self) -> Hashes:
        return np.frombuffer(self._keys, np.uint64)

    @property
    def plain(self) -> Hashes:
        return np.frombuffer(self._plain, np.uint64)

    @property
    def labels(self) -> Hashes:
        return np.frombuffer(self._labels, np.uint64)

    def place(self, number: int) -> tuple[str, int]:
        return self._files[self._file_of[number]], self._line_of[number]

    def where(self, number: int) -> str:
        return place_of(*self.place(number))

    def repeats(self, number: int, other: RowHashes, place: int) -> bool:
        """Whether a row equals one of another split, ignoring case, punctuation and whitespace."""
        return self._plain[number] == other._plain[place]

    def found_in(self, other: RowHashes) -> dict[int, tuple[int, int, float]]:
        """Which rows also occur in another split: how (EXACT or PLAIN), which one, and the similarity."""
        matches: dict[int, tuple[int, int, float]] = {}
        for kind, mine, theirs in ((EXACT, self.keys, other.keys), (PLAIN, self.plain, other.plain)):
            for row, there in _matches(mine, theirs):
                matches.setdefault(row, (kind, there, 1.0))
        return matches


def _matches(mine: Hashes, theirs: UInt64[np.ndarray, " others"]) -> list[tuple[int, int]]:
    """Pairs of equal hashes: each of `mine` that occurs in `theirs`, and its first occurrence there."""
    distinct, firsts = np.unique(theirs, return_index=True)
    if not len(distinct):
        return []
    at = np.minimum(np.searchsorted(distinct, mine), len(distinct) - 1)
    rows = np.flatnonzero(distinct[at] == mine)
    return list(zip(rows.tolist(), firsts[at[rows]].tolist(), strict=True))


def conflicts(parts: Sequence[RowHashes]) -> list[list[tuple[int, int, int]]]:
    """For each split, the rows whose content has a different label elsewhere: the row, and the split and row of the
    first one that differs.
    """
    keys, labels = (
        np.concatenate([part.keys for part in parts]),
        np.concatenate([part.labels for part in parts]),
    )
    part_of: Int[np.ndarray, " rows"] = np.repeat(np.arange(len(parts)), [len(part.keys) for part in parts])
    row_of = np.concatenate([np.arange(len(part.keys)) for part in parts])
    _, firsts, groups = np.unique(keys, return_index=True, return_inverse=True)
    differs = labels != labels[firsts[groups]]  # from the first of the same content
    others = np.full(len(firsts), -1)
    others[groups[differs][::-1]] = np.flatnonzero(differs)[::-1]  # the first that differs from it
    conflicting: list[list[tuple[int, int, int]]] = [[] for _ in parts]
    for place in np.flatnonzero(others[groups] >= 0).tolist():
        other = firsts[groups[place]] if differs[place] else others[groups[place]]
        conflicting[part_of[place]].append((int(row_of[place]), int(part_of[other]), int(row_of[other])))
    return conflicting
