"""Intervals over sentences, beside what drawing them one by one in plain Python gives."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import f1_score

from seqlab.metrics.bootstrap import ConfidenceInterval, bootstrap_interval, percentile_interval
from seqlab.metrics.items import grouped_mean_items, macro_f1_items

SENTENCES = np.repeat(np.arange(40), np.random.default_rng(0).integers(1, 7, size=40))
GENERATOR = np.random.default_rng(1)
TARGETS = GENERATOR.integers(3, size=len(SENTENCES))
PREDICTED = np.where(
    GENERATOR.random(len(SENTENCES)) < 0.7, TARGETS, GENERATOR.integers(3, size=len(SENTENCES))
)


def share_interval(values: np.ndarray, sentences: np.ndarray) -> ConfidenceInterval:
    return bootstrap_interval(grouped_mean_items(values, sentences), seed=0, resamples=1000)


def draw(statistic: str) -> tuple[float, float]:
    values = []
    for chosen in np.random.default_rng(0).integers(40, size=(1000, 40)):
        tokens = np.concatenate([np.flatnonzero(sentence == SENTENCES) for sentence in chosen])
        right = TARGETS[tokens] == PREDICTED[tokens]
        macro = (
            f1_score(TARGETS[tokens], PREDICTED[tokens], average="macro", zero_division=0)
            if statistic == "f1"
            else 0.0
        )
        values.append(macro if statistic == "f1" else right.mean())
    found = percentile_interval(np.array(values))
    return found.low, found.high


def test_the_interval_of_accuracy_draws_sentences() -> None:
    found = share_interval(TARGETS == PREDICTED, SENTENCES)
    assert (found.low, found.high) == pytest.approx(draw("accuracy"))


@pytest.mark.slow
def test_the_interval_of_macro_f1_draws_sentences() -> None:
    items = macro_f1_items(TARGETS, PREDICTED, num_classes=3, groups=SENTENCES)
    found = bootstrap_interval(items, seed=0, resamples=1000)
    assert (found.low, found.high) == pytest.approx(draw("f1"))


def test_words_of_one_sentence_are_no_independent_witnesses() -> None:
    """All right or all wrong by sentence: the interval is that of 20 sentences, not that of 200 words."""
    right, sentences = np.repeat(np.arange(20) % 2 == 0, 10), np.repeat(np.arange(20), 10)
    wide, narrow = share_interval(right, sentences), share_interval(right, np.arange(200))
    assert wide.high - wide.low > 2.5 * (narrow.high - narrow.low)


def test_sentences_without_a_word_that_counts_play_no_part() -> None:
    assert grouped_mean_items(np.array([1.0, 2.0, 4.0]), np.array([0, 0, 3])).per_item().tolist() == [
        [3.0, 2.0],
        [4.0, 1.0],
    ]
    found = share_interval(np.array([True, True]), np.array([0, 3]))
    assert (found.low, found.high) == (1.0, 1.0)
