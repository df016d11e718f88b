"""Read the texts of a source as documents or as one stream."""

from __future__ import annotations

from collections.abc import Iterator

from seqlab.recipes.recipe import Recipe
from seqlab.sources.base import Source, TextSource, text_of
from seqlab.tokens.vocabulary import UNK

CHUNK = 1 << 20
"""Characters that are read at once."""
MAX_TEXTS = 10_000
"""Documents that are encoded at once."""
BY_LINE = ("words", "whitespace")
"""Kinds of tokens without line breaks: an end token replaces them, so every line is a document."""


def has_documents(source: Source, recipe: Recipe) -> bool:
    """Whether the source has documents (rows, or lines of words), each with an end token, rather than one
    text.
    """
    return not isinstance(source, TextSource) or recipe.tokens.kind in BY_LINE


def read_texts(source: Source, recipe: Recipe) -> Iterator[str]:
    """Yield the documents of a source, or chunks of its only text."""
    if isinstance(source, TextSource) and not has_documents(source, recipe):
        yield from source.chunks(CHUNK)
    else:
        column = recipe.data.text or "text"
        yield from (text_of(row, column) for row in source.rows())


def in_chunks(texts: Iterator[str]) -> Iterator[list[str]]:
    """Group texts into lists of about one chunk, so that tokenizers can run in parallel with little memory."""
    chunk: list[str] = []
    size = 0
    for text in texts:
        chunk.append(text)
        size += len(text)
        if size >= CHUNK or len(chunk) >= MAX_TEXTS:
            yield chunk
            chunk, size = [], 0
    if chunk:
        yield chunk


def has_more_than(source: Source, recipe: Recipe, characters: int) -> bool:
    """Whether the texts of a source have more characters than this; reads no further than necessary."""
    total = 0
    for text in read_texts(source, recipe):
        total += len(text)
        if total > characters:
            return True
    return False


def is_cut_into_words(source: Source) -> bool:
    """Whether a text has <unk> for rare words, as corpora for word models do; its words are then separated
    by whitespace.
    """
    beginning = next(iter(source.chunks(CHUNK)), "") if isinstance(source, TextSource) else ""
    return UNK in beginning.split()
