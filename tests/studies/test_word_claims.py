"""Studies about words and their order show their claims in a quick run."""

from __future__ import annotations

import random

import pytest

from seqlab.studies.analogies import analogy_questions, generate_sentences
from seqlab.studies.contexts import SENSES, draw_use
from seqlab.studies.word_order import PAIRS
from tests.studies.findings import quick

BLIND = ("bag of words", "attention without positions")


@pytest.mark.spec(31)
def test_the_analogies_of_a_small_world_are_answered_and_drawn_as_parallelograms() -> None:
    found = quick("analogies")
    for row in found.select_rows(method="add"):
        assert float(row["right"]) == 1.0
    assert (
        found.value("nearest to c", questions="gender and number", method="add") == 0.0
    )  # without arithmetic none would be right
    assert "woman − man is 0.99" in found.conclusion
    assert all(svg.count("<path") == 2 for svg in found.figures)
    words = {word for sentence in generate_sentences(3000, 0) for word in sentence}
    assert {word for question in analogy_questions() for word in question.words} <= words


@pytest.mark.long
@pytest.mark.spec(18)
def test_reordered_words_are_the_same_only_to_networks_that_do_not_see_order() -> None:
    found = quick("word_order")
    assert all(sorted(one.split()) == sorted(other.split()) and one != other for one, other in PAIRS.values())
    for row in found.rows:
        shares = [float(row[pair]) for pair in PAIRS]
        assert max(shares) < 1e-6 if row["network"] in BLIND else min(shares) > 0.02
        assert row["sees order"] == ("no" if row["network"] in BLIND else "yes")


@pytest.mark.long
@pytest.mark.spec(32)
def test_an_embedding_knows_one_bank_and_a_network_that_reads_knows_two() -> None:
    found = quick("contexts")
    for word in SENSES:
        assert found.value("same meaning", vectors="embedding alone", word=word) == pytest.approx(1.0)
        assert found.value("other meaning", vectors="embedding alone", word=word) == pytest.approx(1.0)
    for network in ("bidirectional recurrent", "transformer"):
        for word in SENSES:
            assert (
                found.value("same meaning", vectors=network, word=word) < 0.9999
            )  # every sentence gives a vector of its own
        same, other = (
            sum(found.value(column, vectors=network, word=word) for word in SENSES)
            for column in ("same meaning", "other meaning")
        )
        assert same > other


def test_an_ambiguous_word_stands_beside_words_of_one_meaning() -> None:
    for seed in range(20):
        use = draw_use("bank", random.Random(seed))
        assert use.words[use.position] == "bank"
        assert len(set(use.words) & set(SENSES["bank"][use.meaning])) == 2
        assert not set(use.words) & set(SENSES["bank"][1 - use.meaning])
