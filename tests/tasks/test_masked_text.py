"""Text with masks."""

from __future__ import annotations

import pytest

from seqlab.core.errors import UsageError
from seqlab.tasks.masked_language_model.masked_text import (
    decode_with_mask,
    encode_masked_text,
    mark_mask,
)
from seqlab.tokens.base import Tokenizer, tokenizers
from seqlab.tokens.settings import TokenSettings
from seqlab.tokens.vocabulary import EOS, MASK, PAD, UNK

TEXT = "the cat sat on the mat. the dog sat on the log."


def fitted(kind: str) -> Tokenizer:
    return tokenizers.get(kind).fit(
        [TEXT] * 20, TokenSettings.model_validate({"kind": kind}), specials=[UNK, PAD, EOS, MASK]
    )


def read(kind: str, text: str) -> list[str]:
    tokenizer = fitted(kind)
    masked = encode_masked_text(text, tokenizer)
    mask_ids = [tokenizer.vocabulary.ids[MASK]] * len(masked.positions)
    assert [masked.ids[position] for position in masked.positions] == mask_ids
    return [tokenizer.vocabulary.pieces[token] for token in masked.ids]


@pytest.mark.parametrize("mask", ["[MASK]", "[mask]", "<mask>", "___", "_____"])
def test_every_way_to_write_a_mask_is_one_token(mask: str) -> None:
    assert read("words", f"the {mask} sat") == ["the", MASK, "sat"]


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("words", ["the", MASK, "sat", "on", MASK, "."]),
        ("wordpiece", ["the", MASK, "sat", "on", MASK, "."]),
        ("bpe", ["the", MASK, "Ġsat", "Ġon", MASK, "."]),  # the space before a word belongs to its piece
        ("characters", ["t", "h", "e", " ", MASK, " ", "s", "a", "t", " ", "o", "n", " ", MASK, "."]),
    ],
)
def test_a_mask_takes_the_place_of_one_token_and_the_rest_is_read_as_in_training(
    kind: str, expected: list[str]
) -> None:
    assert read(kind, "the [MASK] sat on ___.") == expected


def test_masks_may_be_first_last_and_adjacent() -> None:
    assert read("words", "[MASK] sat [MASK][MASK]") == [MASK, "sat", MASK, MASK]


def test_underscores_inside_a_name_are_no_mask() -> None:
    with pytest.raises(UsageError, match="no mask"):
        read("words", "a___b and __init__")


def test_a_text_without_a_mask_is_refused_with_an_example() -> None:
    with pytest.raises(UsageError) as caught:
        encode_masked_text("the cat sat", fitted("words"))
    assert all(fact in str(caught.value) for fact in ("'the cat sat'", "no mask", "[MASK] or ___"))


def test_each_mask_is_marked_among_the_others() -> None:
    assert [mark_mask("a <mask> b ___ c", number) for number in (0, 1)] == [
        "a [MASK] b ___ c",
        "a ___ b [MASK] c",
    ]


@pytest.mark.parametrize(
    ("kind", "expected"),
    [("words", "the cat [MASK] on the mat."), ("characters", "the[MASK]cat sat on the mat.")],
)
def test_ids_are_decoded_with_a_mask(kind: str, expected: str) -> None:
    tokenizer = fitted(kind)
    place = {"words": 2, "characters": 3}[kind]
    assert (
        decode_with_mask(tokenizer, tokenizer.encode("the cat sat on the mat.").tolist(), place) == expected
    )
