"""A text as a stream: cut into pieces on the way in, put together on the way out."""

from __future__ import annotations

from collections.abc import Iterator

from seqlab.recipes.recipe import Recipe
from seqlab.sources.base import Source, TextSource
from seqlab.sources.columns import text_of
from seqlab.tokens.base import Tokenizer
from seqlab.tokens.vocabulary import UNK

CHUNK = 1 << 20
BY_LINE = ("words", "whitespace")
"""Kinds of tokens that know no line end: an end token stands for it."""


def has_documents(source: Source, recipe: Recipe) -> bool:
    """Whether the source comes in documents (rows, or lines of words) with an end token after each, or as one
    text.
    """
    return not isinstance(source, TextSource) or recipe.tokens.kind in BY_LINE


def read_texts(source: Source, recipe: Recipe) -> Iterator[str]:
    """The documents of a source, or pieces of its one text."""
    if isinstance(source, TextSource) and not has_documents(source, recipe):
        yield from source.chunks(CHUNK)
    else:
        column = recipe.data.text or "text"
        yield from (text_of(row, column) for row in source.rows())


def in_parts(texts: Iterator[str]) -> Iterator[list[str]]:
    """Texts in lists of about a chunk, so that encoders can work side by side and memory stays small."""
    part: list[str] = []
    size = 0
    for text in texts:
        part.append(text)
        size += len(text)
        if size >= CHUNK or len(part) >= 10_000:
            yield part
            part, size = [], 0
    if part:
        yield part


def has_more_than(source: Source, recipe: Recipe, characters: int) -> bool:
    total = 0
    for text in read_texts(source, recipe):
        total += len(text)
        if total > characters:
            return True
    return False


def is_cut_into_words(source: Source) -> bool:
    """Whether a text writes <unk> for its rare words, as texts for word models do: then the words are what
    blanks separate.
    """
    beginning = next(iter(source.chunks(CHUNK)), "") if isinstance(source, TextSource) else ""
    return UNK in beginning.split()


def as_text(tokenizer: Tokenizer, tokens: Iterator[int], *, end_id: int) -> Iterator[str]:
    """Text as soon as it is certain: bytes of one character wait for each other, words bring the blank before
    them.
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
        if len(ids) > 64 and written == text:
            ids, written = ids[-8:], tokenizer.decode(ids[-8:])
    rest = tokenizer.decode(ids)
    if rest.startswith(written):
        yield rest[len(written) :]
