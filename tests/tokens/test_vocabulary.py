from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seqlab.core.errors import RunError
from seqlab.tokens.vocabulary import PAD, UNK, Vocabulary


@given(st.lists(st.sampled_from("abcdefg")), st.integers(0, 8), st.integers(1, 4))
def test_the_most_frequent_pieces_are_known_ties_in_alphabetical_order(
    pieces: list[str], size: int, min_count: int
) -> None:
    vocabulary = Vocabulary.count(pieces, specials=[UNK, PAD], size=size, min_count=min_count)
    counts = Counter(pieces)
    ranked = [
        piece
        for count in range(len(pieces), min_count - 1, -1)
        for piece in "abcdefg"
        if counts[piece] == count
    ]
    assert vocabulary.pieces == [UNK, PAD, *(ranked[:size] if size else ranked)]


def test_a_special_piece_in_the_data_is_not_counted_again() -> None:
    assert Vocabulary.count([UNK, "a", PAD], specials=[UNK, PAD]).pieces == [UNK, PAD, "a"]


def test_special_pieces_are_found_by_name_but_not_from_text() -> None:
    vocabulary = Vocabulary(["a"], specials=[UNK, PAD])
    assert (vocabulary.id(PAD), vocabulary.text_ids[PAD], vocabulary.text_ids["a"]) == (1, 0, 2)
    assert len(vocabulary.text_ids) == 1, "asking must not make it grow"


def test_a_piece_that_stands_twice_is_refused() -> None:
    with pytest.raises(ValueError, match="'a' occurs twice"):
        Vocabulary(["a", "b", "a"], specials=[UNK])


def test_odd_pieces_survive_the_file(tmp_path: Path) -> None:
    pieces = ['"', "\\", "\n", "\u2028", "\x00", "🦁", "é"]
    Vocabulary(pieces, specials=[UNK]).save(tmp_path / "v.json")
    assert Vocabulary.load(tmp_path / "v.json").pieces == [UNK, *pieces]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "is not valid JSON"),
        (b'{"specials": [], "pieces": ["a"', "is not valid JSON"),
        (b"\xff\xfe", "is not UTF-8"),
        (b"[]", "contains a list, expected an object"),
        (b'{"specials": []}', "has nothing as 'pieces'"),
        (b'{"specials": "ab", "pieces": []}', "has a text as 'specials'"),
        (b'{"specials": [], "pieces": ["a", 3]}', "has a number in 'pieces'"),
        (b'{"specials": [], "pieces": ["a", null]}', "has nothing in 'pieces'"),
        (b'{"specials": [], "pieces": ["a", "a"]}', "lists a token twice"),
        (b"[" * 200_000, "contains JSON that no tokenizer needs"),
        (b'{"specials": [], "pieces": ' + b"9" * 5_000 + b"}", "contains JSON that no tokenizer needs"),
    ],
)
def test_a_damaged_file_is_refused_with_words(content: bytes, words: str, tmp_path: Path) -> None:
    path = tmp_path / "vocabulary.json"
    path.write_bytes(content)
    with pytest.raises(RunError, match=words) as error:
        Vocabulary.load(path)
    assert str(path) in str(error.value)
    assert "Restore the file" in str(error.value)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(RunError, match=r"nowhere\.json: there is no such file"):
        Vocabulary.load(tmp_path / "nowhere.json")
