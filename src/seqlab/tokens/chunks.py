"""Splits long texts and joins short ones, so that the work comes in chunks that fit memory and
caches.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

PART = 1 << 18


def even_parts(texts: Iterable[str], *, size: int = PART) -> Iterator[str]:
    """All characters of all texts in order, in strings of about `size`: for counting, where boundaries do not
    matter.

    >>> list(even_parts(["abcdefg", "h", "ij"], size=3))
    ['abc', 'def', 'ghij']
    """
    pending: list[str] = []
    length = 0
    for text in texts:
        start = 0
        while start < len(text):
            taken = text[start : start + size]
            start += len(taken)
            pending.append(taken)
            length += len(taken)
            if length >= size:
                yield "".join(pending)
                pending, length = [], 0
    if pending:
        yield "".join(pending)


def cut(text: str, border: re.Pattern[str], *, size: int = PART, longest: int | None = None) -> Iterator[str]:
    """A text in parts of at least `size` characters, each starting where `border` matches.

    Without a boundary nearby a part grows, up to `longest` if given.

    >>> list(cut("to be or not to be", re.compile(" "), size=4)), list(cut("abcdefgh", re.compile(" "), size=2, longest=3))
    (['to be', ' or not', ' to be'], ['abc', 'def', 'gh'])
    """
    start = 0
    while len(text) - start > size:
        furthest = len(text) if longest is None else min(len(text), start + longest)
        match = border.search(text, start + size, furthest)
        if match is None and furthest == len(text):
            break
        stop = match.start() if match else furthest
        yield text[start:stop]
        start = stop
    if start < len(text):
        yield text[start:]
