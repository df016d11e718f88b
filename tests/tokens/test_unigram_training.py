"""The learning of unigram pieces against every way to cut a word, written out."""

from __future__ import annotations

import math
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import trainers

from seqlab.tokens.settings import TokenSettings
from seqlab.tokens.subwords.lattice import Lattice
from seqlab.tokens.subwords.substrings import Substrings
from seqlab.tokens.subwords.unigram import Unigram
from seqlab.tokens.subwords.unigram_training import learn_unigram
from seqlab.tokens.vocabulary import PAD, UNK

WORDS = st.dictionaries(st.text("abc", min_size=1, max_size=7), st.integers(1, 5), min_size=1, max_size=6)


def cuts(word: str, pieces: dict[str, float]) -> Iterator[list[str]]:
    """Every way to write a word as pieces."""
    if not word:
        yield []
    for length in range(1, len(word) + 1):
        if word[:length] in pieces:
            yield from ([word[:length], *rest] for rest in cuts(word[length:], pieces))


def lattice_of(substrings: Substrings) -> tuple[Lattice, list[str]]:
    everything = np.arange(len(substrings.length))
    lattice = Lattice(
        substrings.word_lengths, substrings.edges_in_words(everything), num_pieces=len(everything)
    )
    return lattice, [substrings[number] for number in everything.tolist()]


@given(WORDS)
def test_substrings_are_counted_as_by_hand(words: dict[str, int]) -> None:
    substrings = Substrings(words, longest=4)
    counts: Counter[str] = Counter()
    for word, times in words.items():
        for start in range(len(word)):
            for stop in range(start + 1, min(len(word), start + 4) + 1):
                counts[word[start:stop]] += times
    expected = {piece: count for piece, count in counts.items() if len(piece) == 1 or count > 1}
    assert {
        substrings[number]: substrings.times[number] for number in range(len(substrings.length))
    } == expected


@given(WORDS)
def test_expected_counts_are_the_sum_over_all_cuts(words: dict[str, int]) -> None:
    lattice, pieces = lattice_of(Substrings(words, longest=4))
    probs = {piece: (place + 1) / (len(pieces) * (len(pieces) + 1) / 2) for place, piece in enumerate(pieces)}
    found = lattice.expected_counts(
        np.array(list(probs.values())), np.array(list(words.values()), dtype=np.float64)
    )
    expected = dict.fromkeys(pieces, 0.0)
    for word, times in words.items():
        ways = [(way, math.prod(probs[piece] for piece in way)) for way in cuts(word, probs)]
        total = sum(chance for _, chance in ways)
        for way, chance in ways:
            for piece in way:
                expected[piece] += times * chance / total
    np.testing.assert_allclose(found, list(expected.values()), rtol=1e-9, atol=1e-12)


@given(WORDS)
def test_the_best_cut_of_a_piece_into_others_is_found(words: dict[str, int]) -> None:
    substrings = Substrings(words, longest=4)
    _, pieces = lattice_of(substrings)
    everything = np.arange(len(pieces))
    log_probs = {piece: -1.0 - place % 5 for place, piece in enumerate(pieces)}
    inner = Lattice(
        substrings.length, substrings.edges_in_pieces(everything, everything), num_pieces=len(pieces)
    )
    expected = [
        max(
            (sum(log_probs[part] for part in way) for way in cuts(piece, log_probs) if way != [piece]),
            default=-math.inf,
        )
        for piece in pieces
    ]
    np.testing.assert_allclose(inner.best_log_probs(np.array(list(log_probs.values()))), expected)


def test_the_repeated_word_becomes_a_piece_and_probabilities_add_up_to_one() -> None:
    pieces = dict(learn_unigram({"▁the": 50, "▁them": 20, "▁other": 20, "x": 1}, size=14))
    assert "▁the" in pieces
    assert {"▁", "t", "h", "e", "m", "o", "r"} <= pieces.keys(), "characters stay, however rare"
    assert sum(math.exp(score) for score in pieces.values()) == pytest.approx(1)
    assert list(pieces.values()) == sorted(pieces.values(), reverse=True)


def test_nothing_to_learn_gives_no_pieces() -> None:
    assert learn_unigram({}, size=10) == []
    assert [piece for piece, _ in learn_unigram({"a": 1}, size=10)] == ["a"]


def _stdlib_text(length: int) -> str:
    texts = [Path(module.__file__).read_text(encoding="utf-8") for module in (os, subprocess)]
    return "".join(texts)[:length]


def test_it_needs_no_more_tokens_than_the_engines_own_trainer() -> None:
    text = _stdlib_text(60_000)
    ours = Unigram.fit([text], TokenSettings(size=500), specials=[UNK, PAD])
    theirs = Unigram.pipeline(lowercase=False)
    theirs.train_from_iterator(
        [text],
        trainers.UnigramTrainer(
            vocab_size=502, special_tokens=[UNK, PAD], unk_token=UNK, show_progress=False
        ),
    )
    assert len(ours.encode(text)) <= 1.02 * len(theirs.encode(text).ids)


LEARN = """
import hashlib, subprocess
from seqlab.tokens.base import tokenizers
from seqlab.tokens.settings import TokenSettings
text = open(subprocess.__file__, encoding="utf-8").read()
for kind in ("bpe", "wordpiece", "unigram"):
    pieces = tokenizers.get(kind).fit([text], TokenSettings(size=600), specials=["<unk>", "<pad>"]).vocabulary.pieces
    print(kind, hashlib.sha256(repr(pieces).encode()).hexdigest())
"""


@pytest.mark.slow
def test_subwords_are_the_same_in_every_process() -> None:
    answers = {
        subprocess.run(
            [sys.executable, "-c", LEARN],
            capture_output=True,
            text=True,
            check=True,
            timeout=120,
            env={**os.environ, "PYTHONHASHSEED": seed},
        ).stdout
        for seed in ("1", "2", "3")
    }
    assert len(answers) == 1
    assert next(iter(answers)).count("\n") == 3
