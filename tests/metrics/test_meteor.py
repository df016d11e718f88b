"""METEOR: worked by hand, by brute force over all matchings, and beside nltk where words do not repeat."""

from __future__ import annotations

import random
from itertools import combinations, permutations

import pytest

from seqlab.datasets.pydoc import read_topics
from seqlab.metrics.meteor import MeteorCounts, MeteorParameters, count_matches, match_words, meteor
from seqlab.metrics.porter import porter_stem


def crossings(matched: list[tuple[int, int]]) -> int:
    return sum((a[0] - b[0]) * (a[1] - b[1]) < 0 for a, b in combinations(matched, 2))


def every_matching(output: str, reference: str) -> list[list[tuple[int, int]]]:
    """All ways to draw lines between equal letters, of which the largest are kept."""
    found = []
    for size in range(min(len(output), len(reference)), -1, -1):
        for places in combinations(range(len(output)), size):
            for others in permutations(range(len(reference)), size):
                if all(output[one] == reference[two] for one, two in zip(places, others, strict=True)):
                    found.append(list(zip(places, others, strict=True)))
        if found:
            return found
    return found


@pytest.mark.spec(41)
def test_a_sentence_by_hand() -> None:
    """All six words match, `audiences` by its stem, in two chunks: `the president`, `spoke to the
    audience`.
    """
    output, reference = (
        text.split()
        for text in ("the president spoke to the audiences", "the president then spoke to the audience")
    )
    assert count_matches(output, reference) == MeteorCounts(matches=6, chunks=2, words=6, reference_words=7)
    precision, recall = 6 / 6, 6 / 7
    mean = 10 * precision * recall / (recall + 9 * precision)
    assert meteor([output], [[reference]]).items.full_score() == pytest.approx(
        mean * (1 - 0.5 * (2 / 6) ** 3)
    )
    assert count_matches(output, reference, stem=None).matches == 5
    assert meteor([output], [[output]]).items.full_score() == pytest.approx(1 - 0.5 / 6**3)
    assert meteor([["x"]], [[["y"]]]).items.full_score() == 0.0


@pytest.mark.spec(41)
def test_a_corpus_adds_up_and_takes_the_best_reference_of_each_sentence() -> None:
    outputs = [["a", "b", "c"], ["d", "e"]]
    references = [[["x", "y"], ["a", "b"]], [["e", "d", "f"]]]
    matches, chunks, words, wanted = 2 + 2, 1 + 2, 3 + 2, 2 + 3
    precision, recall = matches / words, matches / wanted
    expected = precision * recall / (0.8 * precision + 0.2 * recall) * (1 - 0.3 * (chunks / matches) ** 2)
    rated = meteor(outputs, references, stem=None, parameters=MeteorParameters(alpha=0.8, beta=2, gamma=0.3))
    assert rated.items.full_score() == pytest.approx(expected)
    assert rated.method == "equal words, α 0.8, β 2, γ 0.3"
    assert rated.score().value == pytest.approx(expected)


def test_lines_are_as_many_as_can_be_and_cross_least() -> None:
    chance = random.Random(0)
    for _ in range(25):
        output, reference = ("".join(chance.choices("aabc", k=chance.randint(1, 5))) for _ in range(2))
        best = every_matching(output, reference)
        found = match_words(list(output), list(reference), stem=None)
        assert len(found) == len(best[0])
        assert crossings(found) == min(crossings(matched) for matched in best)


STEMS = {
    "caresses": "caress",
    "ponies": "poni",
    "ties": "ti",
    "cats": "cat",
    "feed": "feed",
    "agreed": "agre",
    "plastered": "plaster",
    "motoring": "motor",
    "sing": "sing",
    "conflated": "conflat",
    "troubling": "troubl",
    "sized": "size",
    "hopping": "hop",
    "falling": "fall",
    "hissing": "hiss",
    "fizzed": "fizz",
    "failing": "fail",
    "filing": "file",
    "happy": "happi",
    "sky": "sky",
    "relational": "relat",
    "digitizer": "digit",
    "vietnamization": "vietnam",
    "operator": "oper",
    "triplicate": "triplic",
    "formative": "form",
    "electrical": "electr",
    "goodness": "good",
    "revival": "reviv",
    "adoption": "adopt",
    "probate": "probat",
    "rate": "rate",
    "cease": "ceas",
    "controll": "control",
    "roll": "roll",
}


def test_stems_are_those_of_porters_paper() -> None:
    """Its examples, taken through all five steps."""
    assert {word: porter_stem(word) for word in STEMS} == STEMS


@pytest.mark.slow  # nltk takes seconds to import
@pytest.mark.spec(41)
def test_sentences_without_repeated_words_score_as_in_nltk_and_stems_are_the_same() -> None:
    nltk = pytest.importorskip("nltk.translate.meteor_score")
    stemmer = pytest.importorskip("nltk.stem.porter").PorterStemmer(mode="ORIGINAL_ALGORITHM")

    class NoSynonyms:
        def synsets(self, word: str) -> list[object]:
            return []

    words = sorted(
        {
            word
            for word in read_topics().lower().split()
            if word.isascii() and word.isalpha() and len(word) > 2
        }
    )
    assert len(words) > 2000
    assert [word for word in words if porter_stem(word) != stemmer.stem(word)] == []
    chance = random.Random(3)
    for _ in range(60):
        shared = chance.sample(words, k=20)
        output, reference = (
            chance.sample(shared, k=chance.randint(1, 15)),
            chance.sample(shared, k=chance.randint(1, 15)),
        )
        reference = [porter_stem(word) if chance.random() < 0.3 else word for word in reference]
        if any(len({porter_stem(word) for word in side}) < len(side) for side in (output, reference)):
            continue  # nltk takes the last of equal stems, the paper the one that crosses least
        theirs = nltk.single_meteor_score(reference, output, stemmer=stemmer, wordnet=NoSynonyms())
        assert meteor([output], [[reference]]).items.full_score() == pytest.approx(theirs)


def test_long_sentences_full_of_equal_words_end_in_time() -> None:
    output = ["a", "b"] * 30
    assert len(match_words(output, ["b", "a", "c"] * 20)) == 40
