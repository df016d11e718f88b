"""Text with gaps."""

from __future__ import annotations

import pytest

from seqlab.core.errors import UsageError
from seqlab.tasks.masked_language_model.blanks import read_gaps, show_gap, with_gap
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
    gapped = read_gaps(text, tokenizer)
    assert [gapped.ids[place] for place in gapped.gaps] == [tokenizer.vocabulary.ids[MASK]] * len(gapped.gaps)
    return [tokenizer.vocabulary.pieces[token] for token in gapped.ids]


@pytest.mark.parametrize("gap", ["[MASK]", "[mask]", "<mask>", "___", "_____"])
def test_every_way_to_write_a_gap_is_one_mask(gap: str) -> None:
    assert read("words", f"the {gap} sat") == ["the", MASK, "sat"]


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("words", ["the", MASK, "sat", "on", MASK, "."]),
        ("wordpiece", ["the", MASK, "sat", "on", MASK, "."]),
        ("bpe", ["the", MASK, "Ġsat", "Ġon", MASK, "."]),  # the blank before a word belongs to its piece
        ("characters", ["t", "h", "e", " ", MASK, " ", "s", "a", "t", " ", "o", "n", " ", MASK, "."]),
    ],
)
def test_a_gap_takes_the_place_of_one_token_and_the_rest_is_read_as_in_training(
    kind: str, expected: list[str]
) -> None:
    assert read(kind, "the [MASK] sat on ___.") == expected


def test_gaps_may_stand_at_the_edges_and_beside_each_other() -> None:
    assert read("words", "[MASK] sat [MASK][MASK]") == [MASK, "sat", MASK, MASK]


def test_underscores_inside_a_name_are_no_gap() -> None:
    with pytest.raises(UsageError, match="the text has no gap to fill"):
        read("words", "a___b and __init__")


def test_a_text_without_a_gap_is_refused_with_an_example() -> None:
    with pytest.raises(UsageError) as caught:
        read_gaps("the cat sat", fitted("words"))
    assert "'the cat sat': the text has no gap to fill." in str(caught.value)
    assert 'Write [MASK] or ___ where a token is to be found: "The [MASK] is".' in str(caught.value)


def test_each_gap_is_shown_among_the_others() -> None:
    assert [show_gap("a <mask> b ___ c", number) for number in (0, 1)] == [
        "a [MASK] b ___ c",
        "a ___ b [MASK] c",
    ]


@pytest.mark.parametrize(
    ("kind", "expected"),
    [("words", "the cat [MASK] on the mat."), ("characters", "the[MASK]cat sat on the mat.")],
)
def test_ids_are_shown_with_a_gap(kind: str, expected: str) -> None:
    tokenizer = fitted(kind)
    place = {"words": 2, "characters": 3}[kind]
    assert with_gap(tokenizer, tokenizer.encode("the cat sat on the mat.").tolist(), place) == expected
