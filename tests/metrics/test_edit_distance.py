"""Edits, error rates and exact matches against a table filled cell by cell, and counts worked by hand."""

from __future__ import annotations

import random

import numpy as np
import pytest

from seqlab.metrics.edit_distance import (
    character_error_rate,
    count_edits,
    error_rate,
    exact_match,
    nearest_edits,
    token_error_rate,
)
from seqlab.metrics.pronunciation_scores import pronunciation_scores


def slow_edits(output: str, reference: str) -> tuple[int, int]:
    """(edits, insertions and deletions among them), the least of both in this order."""
    table = {(i, 0): (i, i) for i in range(len(output) + 1)} | {
        (0, j): (j, j) for j in range(len(reference) + 1)
    }
    for i in range(1, len(output) + 1):
        for j in range(1, len(reference) + 1):
            (up, up_more), (left, left_more), (both, both_more) = (
                table[i - 1, j],
                table[i, j - 1],
                table[i - 1, j - 1],
            )
            differ = output[i - 1] != reference[j - 1]
            table[i, j] = min((up + 1, up_more + 1), (left + 1, left_more + 1), (both + differ, both_more))
    return table[len(output), len(reference)]


@pytest.mark.spec(7)
def test_edits_equal_those_of_the_table() -> None:
    chance = random.Random(0)
    pairs = [
        tuple("".join(chance.choices("abc", k=chance.randint(0, 9))) for _ in range(2)) for _ in range(400)
    ]
    found = count_edits(pairs)
    assert (found >= 0).all()
    assert found[:, 3].tolist() == [len(reference) for _, reference in pairs]
    assert (found[:, 1] - found[:, 2]).tolist() == [
        len(output) - len(reference) for output, reference in pairs
    ]
    assert [(int(row[:3].sum()), int(row[1:3].sum())) for row in found] == [
        slow_edits(*pair) for pair in pairs
    ]


def test_the_nearest_reference_counts_and_of_equally_near_ones_the_longest() -> None:
    assert nearest_edits(["abcd", "x"], [["zzzz", "abce", "bcd"], ["y"]]).tolist() == [
        [1, 0, 0, 4],
        [1, 0, 0, 1],
    ]
    rated = character_error_rate(["abcd", "x"], [["zzzz", "abce", "bcd"], ["y"]])
    assert rated.items.full_score() == pytest.approx(2 / 5)
    assert not rated.score().higher_is_better
    words = token_error_rate([["a", "b", "c"]], [[["a", "c"]]])
    assert words.items.full_score() == pytest.approx(1 / 2)


def test_empty_references_and_outputs_have_a_rate() -> None:
    assert error_rate("x", count_edits([("", ""), ("", "ab")]), unit="letters").items.full_score() == 1.0
    assert error_rate("x", count_edits([("", "")]), unit="letters").items.full_score() == 0.0
    assert error_rate("x", count_edits([("a", "")]), unit="letters").items.full_score() == np.inf


@pytest.mark.spec(7)
def test_a_pronunciation_is_right_if_any_dictionary_entry_is() -> None:
    listed = {"read": ["R IY D", "R EH D"], "cat": ["K AE T"], "dog": ["D AO G"]}
    outputs = [text.split() for text in ("R EH D", "K AH T", "D AO G Z Z")]
    wer, per = pronunciation_scores(
        outputs, [[text.split() for text in several] for several in listed.values()]
    )
    assert wer.items.full_score() == pytest.approx(2 / 3)
    assert per.items.full_score() == pytest.approx((0 + 1 + 2) / 9)
    assert (wer.name, per.name) == ("wer", "per")
    assert exact_match(
        [tuple(output) for output in outputs], [[("R", "EH", "D")], [("K", "AE", "T")], [()]]
    ).score().value == pytest.approx(1 / 3)
