"""The n-gram model against a slow one written with dictionaries, against sums over the vocabulary, and on
real text.
"""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from seqlab.baselines.ngram import NGram, discounts
from seqlab.core.errors import UsageError
from tests.baselines.slow_kneser_ney import SlowKneserNey

Stream = np.ndarray[tuple[int], np.dtype[np.int64]]


def uneven_stream(length: int, vocabulary_size: int, *, seed: int) -> Stream:
    """Tokens that depend on the one before, some rare and some never used."""
    generator = np.random.default_rng(seed)
    table = generator.dirichlet(np.full(vocabulary_size, 0.3), size=vocabulary_size)
    tokens = [0]
    for _ in range(length - 1):
        tokens.append(int(generator.choice(vocabulary_size, p=table[tokens[-1]])))
    return np.array(tokens)


@pytest.mark.parametrize("order", [1, 2, 3, 5])
def test_every_probability_equals_that_of_the_slow_model(order: int) -> None:
    train, test = uneven_stream(400, 7, seed=1), uneven_stream(60, 7, seed=2)
    fast, slow = NGram.fit(train, 7, order=order), SlowKneserNey(train.tolist(), 7, order=order)
    expected = [slow.prob(int(token), tuple(test[:place].tolist())) for place, token in enumerate(test)]
    np.testing.assert_allclose(np.exp(fast.log_probs(test)), expected, rtol=1e-12)


@given(
    train=st.lists(st.integers(0, 4), min_size=1, max_size=30),
    test=st.lists(st.integers(0, 4), min_size=1, max_size=8),
    order=st.integers(1, 4),
)
def test_short_and_odd_streams_agree_with_the_slow_model_too(
    train: list[int], test: list[int], order: int
) -> None:
    fast = NGram.fit(np.array(train), 5, order=order)
    slow = SlowKneserNey(train, 5, order=min(order, len(train)))
    expected = [slow.prob(token, tuple(test[:place])) for place, token in enumerate(test)]
    np.testing.assert_allclose(np.exp(fast.log_probs(np.array(test))), expected, rtol=1e-9)


@given(
    train=st.lists(st.integers(0, 5), min_size=1, max_size=60),
    context=st.lists(st.integers(0, 6), max_size=6),
    order=st.integers(1, 5),
)
def test_every_distribution_is_positive_and_sums_to_one(
    train: list[int], context: list[int], order: int
) -> None:
    model = NGram.fit(np.array(train), 7, order=order)  # token 6 never occurs in training
    probs = model.next_token_probs(np.array(context, dtype=np.int64))
    assert probs.shape == (7,)
    assert probs.min() > 0
    assert probs.sum() == pytest.approx(1.0, abs=1e-12)
    for token in range(7):
        assert math.log(probs[token]) == pytest.approx(
            float(model.log_probs(np.array([*context, token]))[-1])
        )


@pytest.mark.spec(46)
def test_order_two_is_the_markov_model_of_the_chain_rule() -> None:
    """log p(text) = Σ log p(token | the one before), and nothing further back matters."""
    train = uneven_stream(3000, 5, seed=3)
    model = NGram.fit(train, 5, order=2)
    text = np.array([2, 0, 4, 1, 3])
    steps = [
        model.next_token_probs(text[:1][:0])[2],
        *(model.next_token_probs(text[i : i + 1])[text[i + 1]] for i in range(4)),
    ]
    assert model.log_probs(text).sum() == pytest.approx(sum(math.log(p) for p in steps))
    np.testing.assert_array_equal(
        model.next_token_probs(np.array([0, 0, 3])), model.next_token_probs(np.array([4, 1, 3]))
    )


@pytest.mark.spec(46)
def test_a_bigram_model_with_enough_data_finds_the_transition_probabilities() -> None:
    transitions = np.array([[0.1, 0.6, 0.3], [0.5, 0.25, 0.25], [0.2, 0.2, 0.6]])
    generator = np.random.default_rng(0)
    draws = generator.random(60_000)
    tokens = [0]
    for draw in draws:
        tokens.append(int(np.searchsorted(transitions[tokens[-1]].cumsum(), draw)))
    model = NGram.fit(np.array(tokens), 3, order=2)
    found = np.stack([model.next_token_probs(np.array([token])) for token in range(3)])
    np.testing.assert_allclose(found, transitions, atol=0.01)


def test_a_context_never_seen_falls_back_to_its_end() -> None:
    train = uneven_stream(300, 6, seed=4)
    model = NGram.fit(train, 9, order=3)  # tokens 6 to 8 are new
    np.testing.assert_array_equal(
        model.next_token_probs(np.array([7, 2])), model.next_token_probs(np.array([8, 2]))
    )
    np.testing.assert_array_equal(
        model.next_token_probs(np.array([2, 7])), model.next_token_probs(np.zeros(0, dtype=np.int64))
    )


def test_a_token_with_a_single_predecessor_is_unlikely_elsewhere() -> None:
    """What Kneser-Ney is for: 1 ("Francisco") is as frequent as 2, but only ever follows 0."""
    generator = np.random.default_rng(0)
    tokens: list[int] = []
    for _ in range(300):
        tokens += [0, 1, int(generator.integers(4, 30)), 2, int(generator.integers(4, 30))]
    model = NGram.fit(np.array(tokens), 31, order=2)
    elsewhere = model.next_token_probs(np.array([30]))
    assert elsewhere[1] < elsewhere[2] / 5


def test_scoring_in_chunks_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    model = NGram.fit(uneven_stream(500, 6, seed=5), 6, order=4)
    test = uneven_stream(103, 6, seed=6)
    whole = model.log_probs(test)
    monkeypatch.setattr("seqlab.baselines.ngram.CHUNK", 10)
    np.testing.assert_array_equal(model.log_probs(test), whole)


def test_of_a_long_stream_only_the_end_is_used() -> None:
    stream = uneven_stream(900, 6, seed=7)
    capped, end = NGram.fit(stream, 6, order=3, max_tokens=200), NGram.fit(stream[-200:], 6, order=3)
    test = uneven_stream(50, 6, seed=8)
    np.testing.assert_array_equal(capped.log_probs(test), end.log_probs(test))
    assert capped.num_tokens == 200


def test_a_large_vocabulary_and_a_high_order_do_not_collide() -> None:
    """100,000^6 does not fit into 64 bits; the numbers of the grams do."""
    generator = np.random.default_rng(9)
    stream = generator.integers(0, 100_000, size=400)
    model = NGram.fit(stream, 100_000, order=6)
    seen, new = model.log_probs(stream), model.log_probs(generator.integers(0, 100_000, size=400))
    assert seen[10:].mean() > math.log(0.05)
    assert new.mean() < -math.log(1000)


def test_other_integer_types_give_the_same_model() -> None:
    stream = uneven_stream(300, 6, seed=10)
    test = uneven_stream(40, 6, seed=11)
    expected = NGram.fit(stream, 6).log_probs(test)
    np.testing.assert_array_equal(
        NGram.fit(stream.astype(np.uint16), 6).log_probs(test.astype(np.uint8)), expected
    )


def test_a_stream_shorter_than_the_order_gives_a_lower_order() -> None:
    assert NGram.fit(np.array([1, 0]), 3, order=5).order == 2


def test_the_log_probs_of_nothing_are_nothing() -> None:
    assert NGram.fit(np.array([1, 0]), 3).log_probs(np.zeros(0, dtype=np.int64)).shape == (0,)


def test_discounts_follow_the_counts_of_counts() -> None:
    counts = np.repeat([1, 2, 3, 4, 9], [60, 20, 10, 6, 5])
    ratio = 60 / (60 + 2 * 20)
    expected = [0.0, 1 - 2 * ratio * 20 / 60, 2 - 3 * ratio * 10 / 20, 3 - 4 * ratio * 6 / 10]
    np.testing.assert_allclose(discounts(counts), expected)


@pytest.mark.parametrize("wrong", [-1, 4])
def test_tokens_outside_the_vocabulary_are_refused(wrong: int) -> None:
    tokens = np.array([0, wrong, 2])
    model = NGram.fit(np.array([0, 1, 2, 3]), 4)
    for use in (
        lambda: NGram.fit(tokens, 4),
        lambda: model.log_probs(tokens),
        lambda: model.next_token_probs(tokens),
    ):
        with pytest.raises(
            UsageError, match=rf"token ids range from .*{wrong}.*the vocabulary has 4 entries"
        ):
            use()


def test_no_tokens_and_no_order_are_refused() -> None:
    with pytest.raises(UsageError, match="at least one token"):
        NGram.fit(np.zeros(0, dtype=np.int64), 4)
    with pytest.raises(UsageError, match="at least 1, found 0"):
        NGram.fit(np.array([1]), 4, order=0)


@pytest.mark.slow
def test_shakespeare_is_foreseen_as_well_as_promised(shared_data: Path) -> None:
    data = np.frombuffer((shared_data / "tinyshakespeare" / "input.txt").read_bytes(), dtype=np.uint8)
    _, tokens = np.unique(data, return_inverse=True)
    split = len(tokens) * 9 // 10
    model = NGram.fit(tokens[:split], int(tokens.max()) + 1)
    assert -model.log_probs(tokens[split:]).mean() < 1.57
