from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer as Engine

from seqlab.tokens.base import tokenizers
from seqlab.tokens.settings import TokenSettings
from seqlab.tokens.subwords import engine as subwords
from seqlab.tokens.subwords.bpe import BPE
from seqlab.tokens.subwords.engine import Subwords
from seqlab.tokens.subwords.unigram import Unigram
from seqlab.tokens.subwords.wordpiece import WordPiece
from seqlab.tokens.vocabulary import PAD, UNK

TEXTS = ["low lower lowest new newer newest wide wider widest", "the newest and widest"] * 5
SPECIALS = [UNK, PAD]
BYTE_PAIRS = BPE.fit(TEXTS, TokenSettings(size=300), specials=SPECIALS)


def comes_back(text: str) -> None:
    assert BYTE_PAIRS.decode(BYTE_PAIRS.encode(text)) == text
    assert BYTE_PAIRS.join(BYTE_PAIRS.split(text)) == text


@given(st.text())
@settings(max_examples=200)
def test_any_text_survives_byte_pairs(text: str) -> None:
    comes_back(text)


@pytest.mark.slow
@given(
    st.text(max_size=300)
    | st.lists(
        st.sampled_from(["<pad>", "<unk>", "\r\n", "  ", "\x00", "é", "🦁", "low", "▁", "Ġ", "'s"])
    ).map("".join)
)
@settings(max_examples=2_000)
def test_two_thousand_texts_survive_byte_pairs(text: str) -> None:
    comes_back(text)


def test_byte_pairs_are_learnt_in_the_order_of_their_frequency() -> None:
    """'ab' occurs 4 times, 'cd' 3 times, 'abcd' twice: merged in this order, by hand."""
    tokenizer = BPE.fit(["ab\ncd\nabcd\nab\nabcd"], TokenSettings(size=259), specials=SPECIALS)
    assert tokenizer.vocabulary.pieces[-3:] == ["ab", "cd", "abcd"]
    assert tokenizer.split("abcdab cd") == ["abcd", "ab", "Ġ", "cd"]


def test_all_bytes_are_known_and_nothing_else_when_nothing_repeats() -> None:
    tokenizer = BPE.fit(["abc"], TokenSettings(size=1_000), specials=SPECIALS)
    assert len(tokenizer.vocabulary) == 2 + 256


def test_word_pieces_continue_with_two_hashes_and_take_the_longest_beginning() -> None:
    tokenizer = WordPiece.fit(TEXTS, TokenSettings(size=60), specials=SPECIALS)
    known = set(tokenizer.vocabulary.pieces)
    for word in ["lowest", "newer", "wide", "widestnew"]:
        expected, start = [], 0
        while start < len(word):  # by hand: always the longest known piece
            stop = next(
                stop
                for stop in range(len(word), start, -1)
                if ("##" if start else "") + word[start:stop] in known
            )
            expected.append(("##" if start else "") + word[start:stop])
            start = stop
        assert tokenizer.split(word) == expected
    assert tokenizer.split("low☃") == [UNK]
    assert tokenizer.decode(tokenizer.encode("the newest, widestnew")) == "the newest widestnew"


def test_unigram_finds_the_most_probable_way_to_cut_a_word(tmp_path: Path) -> None:
    tokenizer = Unigram.fit(TEXTS, TokenSettings(size=40), specials=SPECIALS)
    tokenizer.save(tmp_path)
    scores = dict(json.loads((tmp_path / "tokenizer.json").read_text())["model"]["vocab"][2:])

    def best(word: str) -> float:
        if not word:
            return 0.0
        return max(
            (
                scores[word[:cut]] + best(word[cut:])
                for cut in range(1, len(word) + 1)
                if word[:cut] in scores
            ),
            default=-1e9,
        )

    for word in ["lowest", "newer", "widest", "lowwide"]:
        pieces = tokenizer.split(word)
        assert "".join(pieces) == word
        assert sum(scores[piece] for piece in pieces) == pytest.approx(best(word))


def test_unigram_bears_more_characters_than_it_has_room_for() -> None:
    text = "".join(chr(0x4E00 + number) for number in range(500)) + " the the"
    tokenizer = Unigram.fit([text], TokenSettings(size=100), specials=SPECIALS)
    assert len(tokenizer.vocabulary) <= 102
    assert tokenizer.decode(tokenizer.encode(text[:20])) == text[:20]


@pytest.mark.parametrize("kind", ["bpe", "wordpiece", "unigram"])
def test_other_programs_read_the_saved_file_the_same_way(kind: str, tmp_path: Path) -> None:
    tokenizer = tokenizers.get(kind).fit(TEXTS, TokenSettings(size=300, lowercase=True), specials=SPECIALS)
    tokenizer.save(tmp_path)
    engine = Engine.from_file(str(tmp_path / "tokenizer.json"))
    text = "The NEWEST  lowland,\n wide"
    assert engine.encode(text).ids == tokenizer.encode(text).tolist()
    assert engine.token_to_id(PAD) == 1


@pytest.mark.parametrize("kind", ["bpe", "wordpiece", "unigram"])
def test_cutting_a_long_text_into_parts_changes_no_id(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    tokenizer = tokenizers.get(kind).fit(TEXTS, TokenSettings(size=300), specials=SPECIALS)
    text = "low  lower\n\n\tnewest wide\u3000the \x1c new\r\n 'tis it's wider.. (x) " * 40
    whole = tokenizer.encode(text).tolist()
    monkeypatch.setattr(subwords, "PART", 1)
    monkeypatch.setattr(subwords, "BATCH", 50)
    assert tokenizer.encode(text).tolist() == whole


def test_a_text_without_a_blank_is_cut_all_the_same() -> None:
    text = "new" * 200_000
    assert BYTE_PAIRS.decode(BYTE_PAIRS.encode(text)) == text


def test_training_stops_reading_when_it_has_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(BPE, "training_characters", 1_000)
    read = 0

    def endless() -> Iterator[str]:
        nonlocal read
        while True:
            read += 1
            yield "the newest and the widest"

    tokenizer = BPE.fit(endless(), TokenSettings(size=270), specials=SPECIALS)
    assert 40 <= read < 50
    assert "Ġthe" in tokenizer.vocabulary.pieces


FORK = """
import os, sys
from seqlab.tokens.subwords.bpe import BPE
from seqlab.tokens.settings import TokenSettings
texts = ["the newest and widest " * 50] * 200
tokenizer = BPE.fit(texts, TokenSettings(size=300), specials=["<unk>", "<pad>"])
before = [ids.tolist() for ids in tokenizer.encode_many(texts)]
child = os.fork()
if child == 0:
    same = before == [ids.tolist() for ids in tokenizer.encode_many(texts)]
    os._exit(0 if same else 1)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


@pytest.mark.slow
def test_a_forked_process_encodes_the_same_and_says_nothing() -> None:
    """Threads do not survive a fork: without care the child would hang or the engine would complain."""
    done = subprocess.run([sys.executable, "-c", FORK], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_every_kind_shares_one_machinery() -> None:
    assert {kind for kind in tokenizers.names() if issubclass(tokenizers.get(kind), Subwords)} == {
        "bpe",
        "wordpiece",
        "unigram",
    }


ODD = ["\0", "▁", " ", "a", "b", "\n", "\ufdd0", "\ufdd1", "\ufdd2", "\ufdd3"]
UNIGRAM = Unigram.fit([" ".join(ODD) * 3, "".join(ODD) * 3], TokenSettings(size=60), specials=SPECIALS)


@given(st.lists(st.sampled_from(ODD), max_size=30).map("".join))
def test_every_text_of_known_characters_survives_unigram_pieces(text: str) -> None:
    """Also U+0000, a ▁ that is no blank, and the codes that stand for both inside the engine."""
    assert UNIGRAM.decode(UNIGRAM.encode(text)) == text
    assert UNIGRAM.join(UNIGRAM.split(text)) == text
