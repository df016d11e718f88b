"""Text with gaps in it, as people write it and as a model reads it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from seqlab.core.errors import UsageError
from seqlab.tokens.base import Tokenizer
from seqlab.tokens.published_vocabulary import PublishedVocabulary
from seqlab.tokens.vocabulary import MASK

GAP = re.compile(r"\[mask\]|<mask>|(?<!\w)_{3,}(?!\w)", re.IGNORECASE)
SHOWN = "[MASK]"
BLANK_BEFORE = ("bpe", "unigram")
"""Kinds whose pieces bring the blank before a word, so a gap brings it too."""
NO_BLANKS = ("words", "whitespace", "wordpiece")
"""Kinds that forget where the blanks were."""


@dataclass(frozen=True)
class GappedText:
    """Ids with the mask in every gap, and the places of the gaps."""

    ids: list[int]
    gaps: list[int]


def read_gaps(text: str, tokenizer: Tokenizer) -> GappedText:
    """A text in which `[MASK]`, `<mask>` or `___` stands for each token to find."""
    parts = GAP.split(text)
    if len(parts) == 1:
        raise UsageError(
            "the text has no gap to fill.",
            where=repr(text[:40]),
            cure='Write [MASK] or ___ where a token is to be found: "The [MASK] is".',
        )
    if isinstance(tokenizer.vocabulary, PublishedVocabulary):
        return _read_whole(parts, tokenizer, mask_id=tokenizer.vocabulary.ids[MASK])
    ids: list[int] = []
    gaps: list[int] = []
    for number, part in enumerate(parts):
        last = number == len(parts) - 1
        ids += tokenizer.encode(
            part if last or tokenizer.kind not in BLANK_BEFORE else part.removesuffix(" ")
        ).tolist()
        if not last:
            gaps.append(len(ids))
            ids.append(tokenizer.vocabulary.ids[MASK])
    return GappedText(ids, gaps)


def _read_whole(parts: Sequence[str], tokenizer: Tokenizer, *, mask_id: int) -> GappedText:
    """A published tokenizer knows its mask by name, and what stands around a text is added once."""
    ids = tokenizer.encode(tokenizer.vocabulary.pieces[mask_id].join(parts)).tolist()
    return GappedText(ids, [place for place, token in enumerate(ids) if token == mask_id])


def show_gap(text: str, number: int) -> str:
    """The text with one of its gaps marked, and the others as lines.

    >>> show_gap("The [MASK] sat on the ___.", 1)
    'The ___ sat on the [MASK].'
    """
    parts = GAP.split(text)
    return "".join(
        part if place == 0 else (SHOWN if place - 1 == number else "___") + part
        for place, part in enumerate(parts)
    )


def with_gap(tokenizer: Tokenizer, ids: Sequence[int], place: int) -> str:
    """Ids as readable text with a gap at one place."""
    parts = [tokenizer.decode(ids[:place]), SHOWN, tokenizer.decode(ids[place + 1 :])]
    return (" " if tokenizer.kind in NO_BLANKS else "").join(part for part in parts if part)
