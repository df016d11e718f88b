"""Nearest words and analogies against plain loops, and the file of questions."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from seqlab.core.errors import DataError, UsageError
from seqlab.inspection.analogies import (
    AnalogyMethod,
    AnalogyQuestion,
    offset_similarity,
    read_questions,
    score_analogies,
    solve_analogy,
    total_score,
)
from seqlab.inspection.nearest_words import nearest_words
from seqlab.tokens.word_vectors import WordVectors

WORDS = [f"w{number}" for number in range(9)]
TABLE = WordVectors(WORDS, np.random.default_rng(3).normal(size=(9, 5)))
QUESTIONS = Path(__file__).parents[2].parent / "shared" / "data" / "analogies" / "questions-words.txt"


def cosine(one: list[float], other: list[float]) -> float:
    lengths = math.sqrt(sum(x * x for x in one)) * math.sqrt(sum(x * x for x in other))
    return sum(x * y for x, y in zip(one, other, strict=True)) / lengths


def rows() -> dict[str, list[float]]:
    return dict(zip(WORDS, TABLE.vectors.tolist(), strict=True))


def unit(row: list[float]) -> list[float]:
    length = math.sqrt(sum(x * x for x in row))
    return [x / length for x in row]


@pytest.mark.spec(31)
def test_nearest_words_are_those_of_the_largest_cosine_without_the_word_itself() -> None:
    expected = sorted(
        ((cosine(rows()["w4"], row), word) for word, row in rows().items() if word != "w4"), reverse=True
    )
    found = nearest_words(TABLE, "w4", top=5)
    assert [word for word, _ in found] == [word for _, word in expected[:5]]
    assert [score for _, score in found] == pytest.approx([score for score, _ in expected[:5]], abs=1e-6)
    assert len(nearest_words(TABLE, "w4", top=100)) == 8


@pytest.mark.spec(31)
@pytest.mark.parametrize("method", ["add", "multiply"])
def test_an_analogy_is_answered_by_arithmetic_and_never_by_a_word_of_the_question(
    method: AnalogyMethod,
) -> None:
    units = {word: unit(row) for word, row in rows().items()}
    for a, b, c in (("w0", "w1", "w2"), ("w5", "w3", "w8")):
        aim = [y - x + z for x, y, z in zip(units[a], units[b], units[c], strict=True)]

        def score(word: str, a: str = a, b: str = b, c: str = c, aim: list[float] = aim) -> float:
            if method == "add":
                return cosine(units[word], aim)
            near = {other: (cosine(units[word], units[other]) + 1) / 2 for other in (a, b, c)}
            return near[b] * near[c] / (near[a] + 0.001)

        expected = sorted((word for word in WORDS if word not in (a, b, c)), key=score, reverse=True)
        found = solve_analogy(TABLE, a, b, c, method=method, top=6)
        assert [word for word, _ in found] == expected
        assert found[0][1] == pytest.approx(score(expected[0]), abs=1e-5)


@pytest.mark.spec(31)
def test_a_parallelogram_is_answered_exactly_and_its_sides_are_parallel() -> None:
    man, royal, woman = np.array([1.0, 0, 0]), np.array([0, 1.0, 0]), np.array([0.2, 0, 1.0])
    other = np.array([[-1.0, 0.3, 0.2], [0.4, -1.0, 0.1]])
    table = WordVectors(
        ["man", "woman", "king", "queen", "x", "y"],
        np.vstack([man, man + woman, man + royal, man + royal + woman, other]),
    )
    assert solve_analogy(table, "man", "woman", "king", top=1)[0][0] == "queen"
    assert offset_similarity(table, ("man", "woman"), ("king", "queen")) == pytest.approx(1.0)
    assert offset_similarity(table, ("man", "woman"), ("queen", "king")) == pytest.approx(-1.0)
    assert offset_similarity(table, ("man", "woman"), ("man", "king")) == pytest.approx(0.0, abs=1e-6)


@pytest.mark.parametrize("method", ["add", "multiply"])
def test_sections_count_what_is_asked_covered_and_right(
    method: AnalogyMethod, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("seqlab.inspection.analogies.BATCH_SIZE", 2)  # questions come in several parts
    truth = {
        words: solve_analogy(TABLE, *words, method=method, top=1)[0][0]
        for words in (("w0", "w1", "w2"), ("w5", "w3", "w8"), ("w6", "w7", "w1"))
    }
    asked = [AnalogyQuestion("one", (*words, answer)) for words, answer in truth.items()]
    asked += [
        AnalogyQuestion("two", ("w0", "w1", "w2", "w3" if truth["w0", "w1", "w2"] != "w3" else "w4")),
        AnalogyQuestion("two", ("w0", "w1", "w2", "never")),
    ]
    asked.append(AnalogyQuestion("one", tuple(word.upper() for word in asked[0].words)))  # type: ignore[arg-type]  # four words again
    one, two = score_analogies(TABLE, asked, method=method)
    assert (one.section, one.questions, one.covered, one.right, one.accuracy) == ("one", 4, 4, 4, 1.0)
    assert (two.questions, two.covered, two.right) == (2, 1, 0)
    total = total_score([one, two])
    assert (total.questions, total.covered, total.right) == (6, 5, 4)
    nearest = [
        nearest_words(TABLE, question.words[2].lower(), top=9)
        for question in asked
        if "never" not in question.words
    ]
    outside = [
        next(word for word, _ in near if word not in [each.lower() for each in question.words[:3]])
        for near, question in zip(
            nearest, [question for question in asked if "never" not in question.words], strict=True
        )
    ]
    hits = sum(
        word == question.words[3].lower()
        for word, question in zip(outside, [q for q in asked if "never" not in q.words], strict=True)
    )
    assert total.baseline_right == hits


def test_a_file_of_questions_has_sections_and_lines_of_four_words(tmp_path: Path) -> None:
    path = tmp_path / "questions.txt"
    path.write_text(
        ": family\nman woman uncle aunt\n\n: capital cities\nParis France Rome Italy\n", encoding="utf-8"
    )
    assert read_questions(path) == [
        AnalogyQuestion("family", ("man", "woman", "uncle", "aunt")),
        AnalogyQuestion("capital cities", ("Paris", "France", "Rome", "Italy")),
    ]
    path.write_text(": family\nman woman uncle\n", encoding="utf-8")
    with pytest.raises(DataError, match=r"line 2: 3 words"):
        read_questions(path)
    path.write_text(": family\n", encoding="utf-8")
    with pytest.raises(DataError, match="no questions"):
        read_questions(path)


@pytest.mark.slow
@pytest.mark.skipif(not QUESTIONS.is_file(), reason="needs the standard file of questions")
def test_the_standard_file_has_its_published_size() -> None:
    questions = read_questions(QUESTIONS)
    assert len(questions) == 19_544
    assert len({question.section for question in questions}) == 14


def test_a_word_without_a_vector_is_refused_with_the_nearest_name() -> None:
    with pytest.raises(UsageError, match=r"the word 'w77' has no vector.\n  Did you mean 'w7'"):
        nearest_words(TABLE, "w77")
