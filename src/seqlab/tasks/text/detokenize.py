"""Decode tokens to text, one at a time."""

from __future__ import annotations

from collections.abc import Iterator

from seqlab.tokens.base import Tokenizer

MAX_PENDING, CONTEXT = 64, 8
"""Number of tokens after which earlier ones are dropped, and how many are kept as context, because
neighbors may change how a token is written.
"""


def piece_text(tokenizer: Tokenizer, token: int) -> str:
    """Return the text of a single token; for a special token, its name."""
    return tokenizer.decode([token]) or tokenizer.vocabulary.pieces[token]


def decode_stream(tokenizer: Tokenizer, tokens: Iterator[int], *, end_id: int) -> Iterator[str]:
    """Yield text as soon as it is final: bytes of a character wait for each other, and a word comes with
    the space before it.
    """
    ids: list[int] = []
    written = ""
    for token in tokens:
        if token == end_id:
            yield "\n"
            ids, written = [], ""
            continue
        ids.append(token)
        text = tokenizer.decode(ids)
        if text.startswith(written) and not text.endswith("\ufffd"):
            yield text[len(written) :]
            written = text
        if len(ids) > MAX_PENDING and written == text:
            ids, written = ids[-CONTEXT:], tokenizer.decode(ids[-CONTEXT:])
    rest = tokenizer.decode(ids)
    if rest.startswith(written):
        yield rest[len(written) :]
