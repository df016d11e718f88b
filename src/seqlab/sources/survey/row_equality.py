"""When two rows say the same: exactly, or but for capitals, punctuation and blanks."""

from __future__ import annotations

import hashlib
import re
from typing import Any

import numpy as np

NO_LETTER = bytes(code for code in range(128) if not chr(code).isalnum())
NO_LETTERS = re.compile(r"\W+")
BETWEEN = "\x1f"


def content_of(value: Any) -> bytes:
    """What a cell holds, as bytes: text, a list of words or tags, or the numbers of a series."""
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
    """Letters and digits in lower case, nothing else; empty where a cell holds no text.

    >>> plain_text_of("Don't  STOP!"), plain_text_of(["don't", "stop"]), plain_text_of([1.5])
    (b'dontstop', b'dontstop', b'')
    """
    if not isinstance(value, str):
        return plain_text_of("".join(value)) if is_words(value) else b""
    if value.isascii():
        return value.lower().encode().translate(None, NO_LETTER)
    kept = (
        value.casefold().encode("utf-8", "surrogatepass").translate(None, NO_LETTER)
    )  # most of what goes is ASCII, and goes fastest like this
    return NO_LETTERS.sub("", kept.decode("utf-8", "surrogatepass")).encode("utf-8", "surrogatepass")


def is_words(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(word, str) for word in value)


def key_of(content: bytes) -> int:
    """64 bits of some content, the same in every process."""
    return int.from_bytes(hashlib.blake2b(content, digest_size=8).digest(), "big")
