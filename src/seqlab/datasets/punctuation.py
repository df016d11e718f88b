"""Restore capitals, commas, periods and colons in the prose of Python's own help.

Words are lowercased and without punctuation; the tag says what to restore. A row is a paragraph, or the
first words of a long one, so the model must find sentence ends, too. Names with inner capitals
(TypeError, PEP) are unchanged.
"""

from __future__ import annotations

import re
from functools import cache

from seqlab.datasets.base import SEED, BuiltInDataset, datasets, to_sources
from seqlab.datasets.pydoc import read_topics
from seqlab.sources.base import Source
from seqlab.sources.in_memory import InMemoryRows
from seqlab.sources.splitting import hold_out

MARKS = {",": "comma", ".": "period", ":": "colon"}
STRIPPED_MARKS = "\"'`*()[]“”‘’;!?"
"""Other punctuation around a word, which is removed."""
MIN_WORDS, MAX_WORDS = 6, 60
"""Maximum number of words per row."""
NO_MARK = "keep"
PROSE = re.compile(r"[A-Za-z][A-Za-z'-]*")


@datasets.register("punctuation")
class Punctuation(BuiltInDataset):
    """Tagging: the context of a word decides."""

    name = "punctuation"
    description = (
        "Which words are capitalized, and which punctuation follows them? Lowercased prose from"
        " Python's own help."
    )
    task = "tagging"
    settings = {"data.text": "words", "data.label": "tags"}  # noqa: RUF012 (declared ClassVar in the base)

    def splits(self) -> dict[str, Source]:
        source = InMemoryRows("punctuation", ["words", "tags"], read_paragraphs())
        return to_sources(
            hold_out(source, how="content", valid_share=0.1, test_share=0.1, seed=SEED, key_columns=["words"])
        )


@cache
def read_paragraphs() -> list[dict[str, list[str]]]:
    rows: dict[tuple[str, ...], list[str]] = {}
    for paragraph in read_topics().split("\n\n"):
        words = paragraph.split()
        if len(words) >= MIN_WORDS and _is_prose(paragraph, words):
            pairs = [pair for word in words[:MAX_WORDS] if (pair := strip_punctuation(word)) is not None]
            rows.setdefault(
                tuple(word for word, _ in pairs), [tag for _, tag in pairs]
            )  # repeated paragraphs are skipped
    return [{"words": list(words), "tags": tags} for words, tags in rows.items()]


def strip_punctuation(token: str) -> tuple[str, str] | None:
    """A word without punctuation and capitals, and the tag that restores them; None if only punctuation is
    left.

    >>> strip_punctuation("(However,"), strip_punctuation("it"), strip_punctuation("TypeError."), strip_punctuation("--")
    (('however', 'Cap+comma'), ('it', 'keep'), ('TypeError', 'period'), None)
    """
    bare = token.strip(STRIPPED_MARKS)
    mark = MARKS.get(bare[-1:], "")
    word = bare.strip(STRIPPED_MARKS + "".join(MARKS))
    if not any(character.isalnum() for character in word):
        return None
    case = "Cap" if word[0].isupper() and word[1:] == word[1:].lower() else ""
    return word.lower() if case else word, "+".join(part for part in (case, mark) if part) or NO_MARK


def _is_prose(paragraph: str, words: list[str]) -> bool:
    """Sentences rather than grammar, code, tables and headings: mostly plain words, and not indented far from
    the margin.
    """
    num_plain = sum(PROSE.fullmatch(word.strip(STRIPPED_MARKS + ",.:")) is not None for word in words)
    return (
        num_plain >= 0.8 * len(words)
        and "::=" not in paragraph
        and ">>>" not in paragraph
        and not paragraph.startswith("      ")
    )
