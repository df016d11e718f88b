"""Words as characters: what is kept of long ones, of marks and of letters never seen."""

from __future__ import annotations

from pathlib import Path

import pytest

from seqlab.core.errors import RunError
from seqlab.tokens.spelling import Spelling

WORDS = {"e\u0301t\u00e9": 2, "שלום": 2, "👩‍💻": 2, "Tag": 3, "once": 1}


@pytest.mark.parametrize("word", ["e\u0301t\u00e9", "שלום", "👩‍💻", "Tag"])
def test_accents_right_to_left_letters_and_joined_emoji_keep_their_code_points_in_order(word: str) -> None:
    spelling = Spelling.learn(WORDS, longest=10)
    ids = spelling.encode(word)
    read = [spelling.vocabulary.pieces[place] for place in ids.tolist()]
    assert read == ["<sos>", *word, "<eos>", *["<pad>"] * (8 - len(word))]


def test_letters_of_a_single_word_seen_once_are_unknown_and_special_names_are_letters() -> None:
    spelling = Spelling.learn(WORDS, longest=10)
    assert spelling.encode("on").tolist()[1:3] == [1, 1]
    assert spelling.encode("").tolist() == [2, 3, *[0] * 8]


def test_of_a_long_word_both_ends_are_read() -> None:
    spelling = Spelling.learn({"abcdefgh": 2}, longest=7)
    assert [
        spelling.vocabulary.pieces[place] for place in spelling.encode("abcdefgh").tolist()[1:-1]
    ] == list("abcgh")


def test_a_saved_spelling_is_the_same_and_a_damaged_one_is_refused(tmp_path: Path) -> None:
    spelling = Spelling.learn(WORDS, longest=10)
    spelling.save(tmp_path / "characters.json")
    again = Spelling.load(tmp_path / "characters.json")
    assert again.encode("Tag").tolist() == spelling.encode("Tag").tolist()
    (tmp_path / "characters.json").write_text('{"longest": 2, "characters": []}')
    with pytest.raises(RunError, match="does not say how many characters of a word are read"):
        Spelling.load(tmp_path / "characters.json")
