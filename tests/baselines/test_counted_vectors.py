"""Word vectors by counting against the definitions, in plain Python."""

from __future__ import annotations

import math
from collections import defaultdict

import numpy as np
import pytest

from seqlab.baselines import counted_vectors
from seqlab.baselines.counted_vectors import CountVectorSettings, fit_count_vectors
from seqlab.core.errors import DataError

TEXT = ["the cat sees the dog", "a dog sees a cat", "the bird sings", "rare the a cat"]
LINES = [line.split() for line in TEXT]


def information(lines: list[list[str]], words: list[str], window: int, smoothing: float) -> np.ndarray:
    counts: dict[tuple[str, str], float] = defaultdict(float)
    for line in lines:
        for place, word in enumerate(line):
            for other in range(max(0, place - window), min(len(line), place + window + 1)):
                if other != place and word in words and line[other] in words:
                    counts[word, line[other]] += (window - abs(other - place) + 1) / window
    sums = {word: sum(count for (one, _), count in counts.items() if one == word) for word in words}
    total, smooth = sum(sums.values()), sum(value**smoothing for value in sums.values())
    matrix = np.zeros((len(words), len(words)))
    for (one, other), count in counts.items():
        ratio = (count / total) / ((sums[one] / total) * (sums[other] ** smoothing / smooth))
        matrix[words.index(one), words.index(other)] = max(0.0, math.log(ratio))
    return matrix


@pytest.mark.parametrize(("window", "smoothing", "together"), [(2, 0.75, 500_000), (3, 1.0, 4)])
def test_vectors_give_back_the_positive_information_of_all_pairs(
    window: int, smoothing: float, together: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With all directions and the singular values as they are, V Vᵀ = M Mᵀ."""
    monkeypatch.setattr(counted_vectors, "WORDS_PER_CHUNK", together)
    table = fit_count_vectors(
        LINES,
        CountVectorSettings(
            vector_size=99, window=window, min_count=2, context_smoothing=smoothing, singular_value_power=1.0
        ),
    )
    assert sorted(table.words) == ["a", "cat", "dog", "sees", "the"]  # no word that stands once
    matrix = information(LINES, table.words, window, smoothing)
    assert (table.vectors @ table.vectors.T).tolist() == [
        pytest.approx(row, abs=1e-4) for row in (matrix @ matrix.T).tolist()
    ]


def test_the_largest_directions_of_a_large_table_are_found_without_the_whole_decomposition(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    chance = np.random.default_rng(0)
    topics = [[f"t{topic}w{number}" for number in range(12)] for topic in range(6)]
    lines = [[str(word) for word in chance.choice(topics[chance.integers(6)], size=8)] for _ in range(400)]
    counting = CountVectorSettings(vector_size=4, min_count=1)
    exact = fit_count_vectors(lines, counting)
    monkeypatch.setattr(counted_vectors, "MAX_EXACT_WORDS", 10)
    monkeypatch.setattr(counted_vectors, "ROWS_PER_CHUNK", 7)
    near = fit_count_vectors(lines, counting)
    assert near.words == exact.words
    assert np.abs(near.vectors @ near.vectors.T - exact.vectors @ exact.vectors.T).max() < 1e-3


def test_words_of_one_kind_lie_together() -> None:
    lines = [
        f"the {animal} eats {food}".split() for animal in ("cat", "dog", "cow") for food in ("hay", "fish")
    ] * 3
    lines += [f"they drive a {car} fast".split() for car in ("truck", "van")] * 6
    units = fit_count_vectors(lines, CountVectorSettings(vector_size=4, min_count=1))
    near = {word: units.units[units.place(word)] for word in ("cat", "dog", "truck", "van")}
    assert near["cat"] @ near["dog"] > near["cat"] @ near["truck"] + 0.5
    assert near["truck"] @ near["van"] > near["dog"] @ near["van"] + 0.5


def test_too_little_text_is_refused() -> None:
    with pytest.raises(DataError, match="0 words occur 5 times or more"):
        fit_count_vectors(LINES)
