"""Options of a cell that take one of a few words."""

from __future__ import annotations

from typing import TypeVar

from seqlab.core.errors import UsageError

Word = TypeVar("Word", bound=str)


def chosen(option: str, word: Word, allowed: tuple[str, ...]) -> Word:
    """The word that was given, if it is one of those allowed.

    >>> chosen("keep", "old", ("old", "new"))
    'old'
    """
    if word not in allowed:
        raise UsageError(f"{option} is {word!r}.", cure=f"It takes {' or '.join(repr(other) for other in allowed)}.")
    return word
