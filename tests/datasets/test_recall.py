"""The recall set: what is asked, how far back it stands, and that no word alone gives it away."""

from __future__ import annotations

from collections import Counter

import pytest

from seqlab.core.errors import RecipeError
from seqlab.datasets.base import datasets
from seqlab.datasets.recall import CUES, NOISE, NUM_ROWS, recall_sequences
from seqlab.runs.data import open_data
from seqlab.runs.find_recipe import find_recipe


@pytest.mark.spec(19)
@pytest.mark.parametrize("gap", [2, 37])
def test_the_answer_is_the_first_of_two_words_and_the_gap_is_as_long_as_asked(gap: int) -> None:
    recipe, _ = find_recipe("recall", [f"data.gap={gap}"])
    opened = open_data(recipe)
    rows = [row.values for part in opened.parts.values() for row in part.rows()]
    assert len({row["sequence"] for row in rows}) == len(rows) == NUM_ROWS
    for row in rows:
        first, other, *noise, question = row["sequence"].split()
        assert (row["first"], question, len(noise)) == (first, "what", gap)
        assert {first, other} < set(CUES)
        assert set(noise) <= set(NOISE)
    assert Counter(row["first"] for row in rows) == dict.fromkeys(CUES, NUM_ROWS // 4)
    assert opened.recipe.tokens.kind == "words"


@pytest.mark.spec(19)
def test_a_bag_of_words_is_right_in_half_of_all_cases_at_best() -> None:
    bags = Counter(
        (frozenset(words[:2]), words[0]) for words in (sequence.split() for sequence in recall_sequences(20))
    )
    best = sum(
        max(count for (bag, _), count in bags.items() if bag == each) for each in {bag for bag, _ in bags}
    )
    assert best / NUM_ROWS == pytest.approx(0.5, abs=0.03)


def test_other_gaps_are_other_data_and_a_gap_is_for_this_set_only() -> None:
    fingerprints = {
        datasets.get("recall")
        .from_settings(find_recipe("recall", [f"data.gap={gap}"])[0].data)
        .splits()["train"]
        .fingerprint()
        for gap in (5, 6)
    }
    assert len(fingerprints) == 2
    with pytest.raises(RecipeError, match=r"data.gap: .*'recall'"):
        open_data(find_recipe("languages", ["data.gap=7"])[0])
