"""Convert between text with masks, as users write it, and token ids."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from seqlab.core.errors import UsageError
from seqlab.tokens.base import Tokenizer
from seqlab.tokens.published_vocabulary import PublishedVocabulary
from seqlab.tokens.vocabulary import MASK

MASK_PATTERN = re.compile(r"\[mask\]|<mask>|(?<!\w)_{3,}(?!\w)", re.IGNORECASE)
WRITTEN_MASK, OTHER_MASK = "[MASK]", "___"
"""How messages and reports show the mask in question, and the other masks of the same text."""
SPACE_BEFORE = ("bpe", "unigram")
"""Kinds whose pieces include the space before a word, so a mask replaces it too."""
NO_SPACES = ("words", "whitespace", "wordpiece")
"""Kinds that drop the spaces between words."""


@dataclass(frozen=True)
class MaskedText:
    """Token ids with the mask token at every masked position, and these positions."""

    ids: list[int]
    positions: list[int]


def encode_masked_text(text: str, tokenizer: Tokenizer) -> MaskedText:
    """Encode a text in which each `[MASK]`, `<mask>` or `___` stands for one token."""
    parts = MASK_PATTERN.split(text)
    if len(parts) == 1:
        raise UsageError(
            "the text has no mask to fill.",
            where=repr(text[:40]),
            cure='Write [MASK] or ___ in place of a token: "The [MASK] is".',
        )
    mask_id = tokenizer.vocabulary.ids[MASK]
    if isinstance(tokenizer.vocabulary, PublishedVocabulary):
        return _encode_whole(parts, tokenizer, mask_id=mask_id)
    ids: list[int] = []
    positions: list[int] = []
    for part in parts[:-1]:
        text_before = part.removesuffix(" ") if tokenizer.kind in SPACE_BEFORE else part
        ids += tokenizer.encode(text_before).tolist()
        positions.append(len(ids))
        ids.append(mask_id)
    return MaskedText(ids + tokenizer.encode(parts[-1]).tolist(), positions)


def _encode_whole(parts: Sequence[str], tokenizer: Tokenizer, *, mask_id: int) -> MaskedText:
    """Encode the whole text at once, for a published tokenizer with its own mask token and special tokens."""
    ids = tokenizer.encode(tokenizer.vocabulary.pieces[mask_id].join(parts)).tolist()
    return MaskedText(ids, [position for position, token in enumerate(ids) if token == mask_id])


def mark_mask(text: str, number: int) -> str:
    """Mark one mask of a text and show the others as lines.

    >>> mark_mask("The [MASK] sat on the ___.", 1)
    'The ___ sat on the [MASK].'
    """
    first, *others = MASK_PATTERN.split(text)
    masks = (WRITTEN_MASK if place == number else OTHER_MASK for place in range(len(others)))
    return first + "".join(mask + part for mask, part in zip(masks, others, strict=True))


def decode_with_mask(tokenizer: Tokenizer, ids: Sequence[int], position: int) -> str:
    """Decode ids to readable text with a mask at one position."""
    parts = [tokenizer.decode(ids[:position]), WRITTEN_MASK, tokenizer.decode(ids[position + 1 :])]
    return (" " if tokenizer.kind in NO_SPACES else "").join(part for part in parts if part)
