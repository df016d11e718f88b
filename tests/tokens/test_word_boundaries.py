"""Which pieces are of the same word."""

from __future__ import annotations

import numpy as np
import pytest

from seqlab.tokens.base import Tokenizer, tokenizers
from seqlab.tokens.settings import TokenSettings
from seqlab.tokens.vocabulary import EOS, MASK, PAD, UNK
from seqlab.tokens.word_boundaries import WordBorders

TEXT = "unbelievable things happened: 1234 un-believable, étranges\n\tthings!"
SPECIALS = [UNK, PAD, EOS, MASK]


def fitted(kind: str) -> Tokenizer:
    return tokenizers.get(kind).fit(
        [TEXT] * 3, TokenSettings.model_validate({"kind": kind, "size": 0}), specials=SPECIALS
    )


def words(tokenizer: Tokenizer, text: str) -> list[str]:
    """The text of each group of ids."""
    ids = tokenizer.encode(text)
    groups = WordBorders.of(tokenizer).groups(ids)
    return [tokenizer.decode(ids[groups == group].tolist()) for group in range(int(groups[-1]) + 1)]


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("characters", ["the", " ", "un", "-", "believable", " ", "things", ":", " ", "1234", "!"]),
        ("bytes", ["the", " ", "un", "-", "believable", " ", "things", ":", " ", "1234", "!"]),
        ("bpe", ["the", " un", "-", "believable", " things", ":", " 1234", "!"]),
        ("unigram", ["the", " un", "-", "believable", " things", ":", " 1234", "!"]),
        ("wordpiece", ["un", "-", "believable", "things", ":", "1234"]),
        ("words", ["un", "-", "believable", "things", ":", "1234"]),
    ],
)
def test_a_word_is_what_a_reader_calls_one(kind: str, expected: list[str]) -> None:
    text = (
        "un-believable things: 1234" if kind in ("wordpiece", "words") else "the un-believable things: 1234!"
    )
    assert words(fitted(kind), text) == expected


def test_letters_of_several_bytes_stay_together() -> None:
    assert words(fitted("bytes"), "é à") == ["é", " ", "à"]


def test_pieces_of_wordpiece_follow_their_beginning() -> None:
    tokenizer = fitted("wordpiece")
    ids = tokenizer.encode("thingsbelieve happenedbele")
    assert len(ids) > 5
    continues = [tokenizer.vocabulary.pieces[piece].startswith("##") for piece in ids.tolist()]
    assert continues.count(False) == 2
    assert words(tokenizer, "thingsbelieve happenedbele") == ["thingsbelieve", "happenedbele"]


@pytest.mark.parametrize("kind", ["characters", "bpe", "wordpiece", "words", "unigram"])
def test_special_tokens_stand_alone(kind: str) -> None:
    tokenizer = fitted(kind)
    ids = tokenizer.encode("things")
    mask_id = tokenizer.vocabulary.ids[MASK]
    groups = WordBorders.of(tokenizer).groups(np.array([*ids, mask_id, *ids]))
    assert groups[len(ids)] not in [*groups[: len(ids)], *groups[len(ids) + 1 :]]
    assert groups[0] == groups[len(ids) - 1]
    assert groups[len(ids) + 1] != groups[0]
