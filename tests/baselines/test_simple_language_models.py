"""Unigram, bigram and the n-gram that held-out text chooses."""

from __future__ import annotations

import math

import numpy as np
import pytest

from seqlab.baselines.simple_language_models import best_order, mean_nats, simple_language_models


@pytest.mark.spec(46)
def test_text_of_a_known_order_is_foreseen_by_a_model_of_that_order() -> None:
    """Each token follows from the two before it and one throw of a coin: two tokens of context say all there
    is to say, one bit is left.
    """
    rng = np.random.default_rng(1)
    tokens = [0, 1]
    for bit in rng.integers(0, 2, 20_000).tolist():
        tokens.append((tokens[-1] * 2 + tokens[-2] + 3 * bit) % 5)
    stream = np.array(tokens)
    order = best_order(stream[:18_000], 5)
    assert order >= 3  # longer ones lose next to nothing: their contexts are certain too
    models = simple_language_models(stream[:18_000], 5)
    unigram, bigram, best = (mean_nats(model, stream[18_000:]) for model in models.values())
    assert list(models) == ["unigram", "bigram", f"{order}-gram"]
    assert min(unigram, bigram) > math.log(2) + 0.5
    assert best == pytest.approx(math.log(2), abs=0.02)


def test_of_tokens_without_memory_no_model_knows_more_than_their_frequencies() -> None:
    stream = np.random.default_rng(2).integers(0, 4, 4000)
    models = simple_language_models(stream[:3000], 4)
    assert [mean_nats(model, stream[3000:]) for model in models.values()] == pytest.approx(
        [math.log(4)] * len(models), abs=0.02
    )


def test_a_single_token_is_enough_to_count() -> None:
    assert list(simple_language_models(np.array([3]), 4)) == ["unigram", "bigram"]
