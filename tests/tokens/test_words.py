from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seqlab.tokens.settings import TokenSettings
from seqlab.tokens.vocabulary import PAD, UNK
from seqlab.tokens.whitespace import Whitespace
from seqlab.tokens.words import Words, join_words


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("Hello, world!", ["Hello", ",", "world", "!"]),
        ("it's John’s; DON'T", ["it", "'s", "John", "’s", ";", "DON", "'T"]),
        ("rock 'n' roll, 'so'", ["rock", "'", "n", "'", "roll", ",", "'", "so", "'"]),
        ("good.<br /><br />Bad<BR>ugly<br/>", ["good", ".", "Bad", "ugly"]),
        ("a <b> <broken", ["a", "<", "b", ">", "<", "broken"]),
        ("1,000.50 on 3.4. v2", ["1,000.50", "on", "3.4", ".", "v2"]),
        ("well... --- ok!!", ["well", "...", "---", "ok", "!", "!"]),
        ("हिन्दी में", ["हिन्दी", "में"]),
        ("cafe\u0301 au lait", ["cafe\u0301", "au", "lait"]),
        ("語🦁x\x00y", ["語", "🦁", "x", "\x00", "y"]),
        ("I ❤\ufe0f it👍🏽👍!", ["I", "❤\ufe0f", "it", "👍🏽", "👍", "!"]),
        ("👩\u200d👩\u200d👧 🇩🇪🇫🇷 1\ufe0f\u20e3", ["👩\u200d👩\u200d👧", "🇩🇪", "🇫🇷", "1\ufe0f\u20e3"]),
        ("", []),
        (" \n\u3000\t", []),
    ],
)
def test_text_is_cut_where_a_reader_would(text: str, pieces: list[str]) -> None:
    assert Words.words_of(text) == pieces


@given(st.text(max_size=60))
def test_nothing_but_white_space_is_lost(text: str) -> None:
    """The line break of HTML is the one exception, and five characters by chance do not make one."""
    assert "".join(Words.words_of(text)) == "".join(text.split())


@pytest.mark.parametrize(
    "text",
    [
        "Hello, world! (He said: yes; no?)",
        'She said "well-known" things.',
        "It's $5, don't you think?",
        "and/or 50% of [them]...",
        "« Oui »".replace(" ", ""),
    ],
)
def test_joined_words_are_written_as_a_typist_would(text: str) -> None:
    assert join_words(Words.words_of(text)) == text


@pytest.mark.parametrize(
    "unit",
    ["a", "1", "1,", "'", ".", "-", "<br", "<br ", "<", "'s", "é\u0301", "!?", "1.a", "👩\u200d", "❤\ufe0f"],
)
def test_a_hostile_text_takes_no_longer_than_a_kind_one(unit: str) -> None:
    """Half a megabyte takes milliseconds; a pattern that goes back over its steps would take hours."""
    text = unit * (500_000 // len(unit))
    start = time.perf_counter()
    tokenizer = Words.fit([text], TokenSettings(), specials=[UNK, PAD])
    tokenizer.encode(text)
    assert time.perf_counter() - start < 5


def test_size_counts_the_words_besides_the_special_pieces() -> None:
    tokenizer = Words.fit(["b b b a a c c d"], TokenSettings(size=3), specials=[UNK, PAD])
    assert tokenizer.vocabulary.pieces == [UNK, PAD, "b", "a", "c"]
    assert Words.fit(["b b b a a c"], TokenSettings(min_count=2), specials=[UNK]).vocabulary.pieces == [
        UNK,
        "b",
        "a",
    ]


def test_words_between_blanks_stay_whole_and_the_corpus_may_mark_its_unknown_words() -> None:
    tokenizer = Whitespace.fit(["the <unk> @-@ don't . \n the"], TokenSettings(), specials=[UNK, PAD])
    assert tokenizer.vocabulary.pieces == [UNK, PAD, "the", ".", "@-@", "don't"]
    assert tokenizer.encode("the <unk> . <pad>\n").tolist() == [2, 0, 3, 0]
    assert tokenizer.decode([2, 4, 3]) == "the @-@ ."


def test_a_word_that_is_also_a_special_piece_is_unknown() -> None:
    tokenizer = Words.fit(["CLS is a word"], TokenSettings(), specials=[UNK, "CLS"])
    assert tokenizer.encode("CLS is").tolist() == [0, tokenizer.vocabulary.id("is")]


def test_without_the_unknown_piece_there_is_no_word_list() -> None:
    with pytest.raises(ValueError, match="need the special token <unk>"):
        Words.fit(["a"], TokenSettings(), specials=[PAD])


def test_a_line_break_of_html_is_not_torn_apart_in_a_long_text() -> None:
    review = "good film .<br />" * 200_000
    words = set(Words.fit([review], TokenSettings(), specials=[UNK]).vocabulary.pieces)
    assert words == {UNK, "good", "film", "."}
