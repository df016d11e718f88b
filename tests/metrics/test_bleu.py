"""BLEU against the examples of its paper, against arithmetic from the definition, and against sacrebleu."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest

from seqlab.core.errors import UsageError
from seqlab.metrics.bleu import bleu_from_sums, bleu_items, corpus_bleu, modified_precision

REFERENCES = [
    "It is a guide to action that ensures that the military will forever heed Party commands",
    (
        "It is the guiding principle which guarantees the military forces always being under the command of"
        " the Party"
    ),
    "It is the practical guide for the army always to heed the directions of the party",
]
FIRST = "It is a guide to action which ensures that the military always obeys the commands of the party"
SECOND = "It is to insure the troops forever hearing the activity guidebook that party direct"


def cut(text: str) -> list[str]:
    return text.lower().split()


def by_definition(outputs: list[list[str]], references: list[list[list[str]]]) -> float:
    """Loops over positions and counts by looking, nothing shared with the code under test; no smoothing."""
    precisions = []
    for n in (1, 2, 3, 4):
        right = total = 0
        for output, several in zip(outputs, references, strict=True):
            runs = [output[i : i + n] for i in range(len(output) - n + 1)]
            total += len(runs)
            for run in {tuple(run) for run in runs}:
                allowed = max(
                    sum(tuple(one[i : i + n]) == run for i in range(len(one) - n + 1)) for one in several
                )
                right += min(sum(tuple(other) == run for other in runs), allowed)
        precisions.append(right / total)
    length = sum(map(len, outputs))
    wanted = sum(
        min((abs(len(one) - len(output)), len(one)) for one in several)[1]
        for output, several in zip(outputs, references, strict=True)
    )
    return min(1.0, math.exp(1 - wanted / length)) * math.prod(precisions) ** 0.25


@pytest.mark.spec(40)
def test_modified_precisions_of_the_paper() -> None:
    """Papineni et al. 2002, examples 1 and 2: 17/18 and 8/14 for words, 10/17 and 1/13 for pairs of words;
    2/7 and 0 for seven times `the`.
    """
    several = [[cut(reference) for reference in REFERENCES]]
    assert modified_precision([cut(FIRST)], several, 1) == 17 / 18
    assert modified_precision([cut(SECOND)], several, 1) == 8 / 14
    assert modified_precision([cut(FIRST)], several, 2) == 10 / 17
    assert modified_precision([cut(SECOND)], several, 2) == 1 / 13
    cats = [[cut("The cat is on the mat"), cut("There is a cat on the mat")]]
    assert modified_precision([["the"] * 7], cats, 1) == 2 / 7
    assert modified_precision([["the"] * 7], cats, 2) == 0
    assert corpus_bleu([cut(FIRST)], several) > corpus_bleu([cut(SECOND)], several)


@pytest.mark.spec(40)
def test_a_corpus_is_scored_from_its_sums_as_defined() -> None:
    chance = random.Random(1)
    references = [
        [chance.choices("abcd", k=chance.randint(6, 11)) for _ in range(chance.randint(1, 3))]
        for _ in range(12)
    ]
    outputs = [
        [word if chance.random() < 0.8 else "e" for word in several[0][: chance.randint(4, 11)]]
        for several in references
    ]
    found = corpus_bleu(outputs, references)
    assert 0 < found < 1
    assert found == pytest.approx(by_definition(outputs, references))
    chosen = [3, 3, 0, 7]
    assert bleu_items(outputs, references).value(np.array(chosen)) == pytest.approx(
        by_definition([outputs[place] for place in chosen], [references[place] for place in chosen])
    )


@pytest.mark.spec(40)
def test_bleu_is_one_for_what_equals_a_reference_and_more_references_never_lower_the_matches() -> None:
    chance = random.Random(2)
    outputs = [chance.choices("abc", k=8) for _ in range(20)]
    others = [[chance.choices("abc", k=8) for _ in range(3)] for _ in range(20)]
    assert (
        corpus_bleu(outputs, [[*several, output] for output, several in zip(outputs, others, strict=True)])
        == 1.0
    )
    scores = [corpus_bleu(outputs, [several[:count] for several in others]) for count in (1, 2, 3)]
    assert scores == sorted(scores)  # all references are as long as the outputs, so only matches change
    assert 0 < scores[0] < scores[-1] < 1
    assert corpus_bleu([["x"] * 5], [[["a"] * 5]]) == 0.0
    assert corpus_bleu([["a", "b"]], [[["a", "b"]]]) == 0.0  # no run of four words anywhere
    assert corpus_bleu([[]], [[["a"]]]) == 0.0


@pytest.mark.spec(40)
def test_smoothing_and_brevity_are_those_of_sacrebleu() -> None:
    compute = pytest.importorskip("sacrebleu").metrics.BLEU.compute_bleu
    for length, wanted, right, total in (
        (9, 12, [4, 2, 0, 0], [9, 8, 7, 6]),
        (9, 5, [4, 0, 1, 0], [9, 8, 7, 6]),
        (4, 4, [0] * 4, [4, 3, 2, 1]),
        (0, 4, [0] * 4, [0] * 4),
    ):
        theirs = compute(list(right), list(total), length, wanted, smooth_method="exp").score / 100
        assert bleu_from_sums(np.array([[length, wanted, *right, *total]], float)) == pytest.approx(theirs)


def test_what_cannot_be_scored_is_refused() -> None:
    with pytest.raises(UsageError, match="no outputs to score"):
        corpus_bleu([], [])
    with pytest.raises(UsageError, match="2 outputs, but references for 1"):
        corpus_bleu([["a"], ["b"]], [[["a"]]])
    with pytest.raises(UsageError, match=r"references of output 2 is empty"):
        corpus_bleu([["a"], ["b"]], [[["a"]], []])
