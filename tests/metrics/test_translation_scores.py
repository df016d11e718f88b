"""Scores of translations equal sacrebleu's own, on the whole, on choices of sentences and in comparisons."""

from __future__ import annotations

import logging
import random
from itertools import zip_longest
from typing import Any

import numpy as np
import pytest

from seqlab.core.errors import UsageError
from seqlab.metrics.paired_tests import paired_bootstrap
from seqlab.metrics.slices import slice_by_length
from seqlab.metrics.translation_scores import SACREBLEU_METRICS, sacrebleu_score, translation_scores

metrics = pytest.importorskip("sacrebleu.metrics")
CHANCE = random.Random(5)
WORDS = ["The", "a", "Cat", "dog", "sits,", "runs", "and", "on", "under", "old", "red", "mats", "trees."]
TRUTHS = [" ".join(CHANCE.choices(WORDS, k=CHANCE.randint(3, 14))) for _ in range(60)]


def spoiled(text: str, share: float) -> str:
    return " ".join(CHANCE.choice(WORDS) if CHANCE.random() < share else word for word in text.split())


OUTPUTS = [spoiled(text, 0.3) for text in TRUTHS]
WORSE = [spoiled(text, 0.3) for text in OUTPUTS]
REFERENCES = [[text, spoiled(text, 0.2)] if place % 3 else [text] for place, text in enumerate(TRUTHS)]


def theirs(kind: str, outputs: list[str], references: list[list[str]]) -> Any:
    metric = getattr(metrics, SACREBLEU_METRICS[kind].metric)(**SACREBLEU_METRICS[kind].options)
    return metric.corpus_score(outputs, list(zip_longest(*references))).score


@pytest.mark.spec(7, 40)
@pytest.mark.parametrize("kind", sorted(SACREBLEU_METRICS))
def test_every_score_equals_sacrebleus_on_any_choice_of_sentences(kind: str) -> None:
    rated = sacrebleu_score(kind, OUTPUTS, REFERENCES)
    assert rated.items.full_score() == pytest.approx(theirs(kind, OUTPUTS, REFERENCES))
    chosen = [7, 7, 2, 41, 0]
    value = theirs(kind, [OUTPUTS[place] for place in chosen], [REFERENCES[place] for place in chosen])
    assert rated.items.value(np.array(chosen)) == pytest.approx(value)
    score = rated.score()
    assert score.low is not None
    assert score.high is not None
    assert score.low < score.value < score.high
    assert "nrefs:var" in score.method
    assert f"case:{'mixed' if kind in ('bleu', 'chrf') else 'lc'}" in score.method
    assert "version:" in score.method


@pytest.mark.spec(40)
def test_equal_and_unequal_texts_reach_the_ends_of_the_scale(caplog: pytest.LogCaptureFixture) -> None:
    ends = {
        kind: (100.0, 0.0) if SACREBLEU_METRICS[kind].higher_is_better else (0.0, 100.0)
        for kind in SACREBLEU_METRICS
    }
    with caplog.at_level(logging.WARNING):
        for kind, (best, worst) in ends.items():
            assert sacrebleu_score(
                kind, TRUTHS, [[text] for text in TRUTHS]
            ).items.full_score() == pytest.approx(best)
            assert sacrebleu_score(
                kind, ["ж ж ж ж ж ."] * 101, [["q q q q q q"]] * 101
            ).items.full_score() == pytest.approx(worst)
    assert caplog.records == []
    assert sacrebleu_score(
        "bleu_lower", [text.upper() for text in TRUTHS], [[text] for text in TRUTHS]
    ).items.full_score() == pytest.approx(100)
    assert sacrebleu_score("ter", ["a"], [[""]]).items.full_score() == 100.0


def test_the_worse_of_two_models_is_found_on_the_same_sentences() -> None:
    better, worse = (sacrebleu_score("bleu", outputs, REFERENCES).items for outputs in (OUTPUTS, WORSE))
    found = paired_bootstrap([better], [[worse]], higher_is_better=True)[0]
    assert found.value == pytest.approx(
        theirs("bleu", WORSE, REFERENCES) - theirs("bleu", OUTPUTS, REFERENCES)
    )
    assert found.is_significant
    assert found.high < 0


@pytest.mark.slow
@pytest.mark.spec(116)
def test_quality_is_told_by_the_length_of_the_source() -> None:
    lengths = np.array([len(text.split()) for text in TRUTHS])
    rated = sacrebleu_score("bleu", OUTPUTS, REFERENCES)
    (found,) = slice_by_length(rated.items, lengths, score=rated.name, edges=[5, 10])
    assert [part.name for part in found.parts] == ["3–5", "6–10", "11–14"]
    assert (found.by, sum(part.count for part in found.parts)) == ("tokens in the source", 60)
    inside = [place for place in range(60) if 6 <= lengths[place] <= 10]
    value = theirs("bleu", [OUTPUTS[place] for place in inside], [REFERENCES[place] for place in inside])
    assert found.parts[1].value == pytest.approx(value)
    assert len(slice_by_length(rated.items, lengths, score=rated.name)[0].parts) == 4


def test_all_scores_of_a_corpus_together_and_an_unknown_one() -> None:
    found = {rated.name: rated for rated in translation_scores(OUTPUTS[:9], REFERENCES[:9], in_english=True)}
    assert list(found) == ["bleu", "bleu_lower", "chrf", "ter", "meteor", "token_error_rate"]
    assert "stems (Porter)" in found["meteor"].method
    with pytest.raises(UsageError, match=r"there is no score 'blue'\.\n  Did you mean 'bleu'"):
        sacrebleu_score("blue", OUTPUTS, REFERENCES)
