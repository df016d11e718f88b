from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from seqlab.tokens.characters import Characters
from seqlab.tokens.settings import TokenSettings
from seqlab.tokens.vocabulary import PAD, UNK

ANY_TEXT = st.text(st.characters(codec=None, exclude_categories=[]), max_size=40)


@pytest.mark.slow
@given(st.lists(ANY_TEXT, max_size=5), ANY_TEXT)
def test_ids_are_those_of_a_plain_dictionary(texts: list[str], text: str) -> None:
    tokenizer = Characters.fit(texts, TokenSettings(), specials=[UNK, PAD])
    counts = Counter(character for character in "".join(texts) if not 0xD800 <= ord(character) < 0xE000)
    ranked = sorted(counts, key=lambda character: (-counts[character], character))
    expected = [ranked.index(character) + 2 if character in counts else 0 for character in text]
    assert tokenizer.encode(text).tolist() == expected
    assert tokenizer.decode(tokenizer.encode(text)) == "".join(
        character for character in text if character in counts
    )


def test_size_and_min_count_leave_the_rare_ones_out() -> None:
    assert Characters.fit(["aaabbc"], TokenSettings(size=2), specials=[UNK]).vocabulary.pieces == [
        UNK,
        "a",
        "b",
    ]
    assert Characters.fit(["aaabbc"], TokenSettings(min_count=3), specials=[UNK]).vocabulary.pieces == [
        UNK,
        "a",
    ]


def test_a_text_longer_than_a_part_is_looked_up_to_its_end() -> None:
    tokenizer = Characters.fit(["abé"], TokenSettings(), specials=[UNK])
    text = "ab" * 50_000 + "é" + "ba" * 50_000 + "🦁"
    ids = tokenizer.encode(text)
    assert ids.tolist() == [{"a": 1, "b": 2, "é": 3, "🦁": 0}[character] for character in text]
    assert tokenizer.decode(ids) == text[:-1]


@pytest.mark.slow
def test_counting_is_right_across_the_borders_of_parts() -> None:
    random = np.random.default_rng(3)
    texts = ["".join(random.choice(list("abcdé🦁"), size=length)) for length in (5, 700_000, 1, 900_000, 3)]
    tokenizer = Characters.fit(texts, TokenSettings(), specials=[UNK])
    counts = Counter("".join(texts))
    assert tokenizer.vocabulary.pieces[1:] == [character for character, _ in counts.most_common()]
