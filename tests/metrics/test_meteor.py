"""METEOR: worked by hand, by brute force over all matchings, and beside nltk."""

from __future__ import annotations

import random
from itertools import combinations, permutations

import pytest

from seqlab.datasets.pydoc import read_topics
from seqlab.metrics.meteor import MeteorCounts, MeteorParameters, count_matches, match_words, meteor
from seqlab.metrics.porter import porter_stem


def crossings(matched: list[tuple[int, int]]) -> int:
    return sum((a[0] - b[0]) * (a[1] - b[1]) < 0 for a, b in combinations(matched, 2))


Matching = frozenset[tuple[int, int]]


def every_matching(output: str, reference: str, before: Matching = frozenset()) -> list[Matching]:
    """All largest ways to draw lines between equal letters that no earlier line has taken."""
    places = [place for place in range(len(output)) if place not in {one for one, _ in before}]
    goals = [goal for goal in range(len(reference)) if goal not in {two for _, two in before}]
    for size in range(min(len(places), len(goals)), -1, -1):
        found = [
            before | set(zip(chosen, others, strict=True))
            for chosen in combinations(places, size)
            for others in permutations(goals, size)
            if all(output[one] == reference[two] for one, two in zip(chosen, others, strict=True))
        ]
        if found:
            return found
    return [before]


def chunks(matched: list[tuple[int, int]]) -> int:
    return sum((one - 1, two - 1) not in matched for one, two in matched)


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
    assert rated.method == "exact matches, α 0.8, β 2, γ 0.3"
    assert rated.score().value == pytest.approx(expected)


def test_lines_are_as_many_as_can_be_in_the_fewest_chunks_and_cross_least() -> None:
    """Equal letters first, then equal ones in lower case, against all matchings that there are."""
    chance = random.Random(0)
    for _ in range(60):
        output, reference = ("".join(chance.choices("aAbBc", k=chance.randint(1, 5))) for _ in range(2))
        best = [
            sorted(matched)
            for exact in every_matching(output, reference)
            for matched in every_matching(output.lower(), reference.lower(), exact)
        ]
        found = match_words(list(output), list(reference), stem=str.lower)
        assert found in best
        assert (chunks(found), crossings(found)) == min((chunks(each), crossings(each)) for each in best)


def test_a_stem_that_stands_before_an_equal_word_joins_its_chunk() -> None:
    """nltk 3.10.4 gives 0.4934 for it."""
    assert count_matches(["cats", "sat"], ["cat", "here", "cat", "sat"]).chunks == 1
    score = meteor([["cats", "sat"]], [[["cat", "here", "cat", "sat"]]]).items.full_score()
    assert score == pytest.approx(10 * 1 * 0.5 / (0.5 + 9) * (1 - 0.5 * 0.5**3))


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


class NoSynonyms:
    """In place of WordNet, which needs a download."""

    def synsets(self, word: str) -> list[object]:
        return []


@pytest.mark.slow  # nltk takes seconds to import
@pytest.mark.spec(41)
def test_sentences_without_repeated_words_score_as_in_nltk_and_stems_are_the_same() -> None:
    nltk = pytest.importorskip("nltk.translate.meteor_score")
    stemmer = pytest.importorskip("nltk.stem.porter").PorterStemmer(mode="ORIGINAL_ALGORITHM")
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
            continue  # nltk takes the last of equal stems
        theirs = nltk.single_meteor_score(reference, output, stemmer=stemmer, wordnet=NoSynonyms())
        assert meteor([output], [[reference]]).items.full_score() == pytest.approx(theirs)


@pytest.mark.slow  # nltk takes seconds to import
def test_where_words_come_twice_no_pair_scores_below_nltk() -> None:
    """The matches are as many; nltk takes the last of equal words, which may break up a chunk."""
    nltk = pytest.importorskip("nltk.translate.meteor_score")
    words = [
        "cat",
        "cats",
        "sat",
        "sits",
        "sitting",
        "the",
        "a",
        "mat",
        "mats",
        "on",
        "dog",
        "dogs",
        "run",
        "runs",
        "running",
    ]
    chance = random.Random(5)
    num_higher = 0
    for _ in range(1500):
        shared = chance.sample(words, k=chance.choice([4, 8, 15]))
        output, reference = (chance.choices(shared, k=chance.randint(1, 9)) for _ in range(2))
        theirs = nltk.single_meteor_score(reference, output, wordnet=NoSynonyms())
        ours = meteor([output], [[reference]]).items.full_score()
        assert ours >= theirs - 1e-12
        num_higher += ours > theirs + 1e-12
    assert 0 < num_higher < 450


def test_long_sentences_full_of_equal_words_end_in_time() -> None:
    output = ["a", "b"] * 30
    assert len(match_words(output, ["b", "a", "c"] * 20)) == 40
