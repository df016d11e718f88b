"""A word in its context, as text."""

from __future__ import annotations

from collections.abc import Sequence

CONTEXT = 8
"""Number of context words on either side."""


def in_context(words: Sequence[str], place: int) -> str:
    """Return a word in square brackets with some words on either side.

    >>> in_context(["the", "old", "man", "the", "boats"], 2)
    'the old [man] the boats'
    """
    start, stop = max(0, place - CONTEXT), place + CONTEXT + 1
    marked = [f"[{word}]" if number == place else word for number, word in enumerate(words)]
    before, after = ["…"] if start else [], ["…"] if stop < len(words) else []
    return " ".join([*before, *marked[start:stop], *after])
