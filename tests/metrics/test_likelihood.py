"""Perplexity and code lengths against their definitions."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from seqlab.core.errors import UsageError
from seqlab.metrics.likelihood import (
    bits_per_character,
    bits_per_token,
    nats_per_token,
    perplexity,
    total_nats,
)

probabilities = st.lists(st.floats(1e-6, 1.0), min_size=1, max_size=30)


@pytest.mark.spec(36)
def test_a_perfect_model_has_perplexity_one() -> None:
    assert perplexity(total_nats(np.log(np.ones(11))), 11) == 1.0


@pytest.mark.spec(36)
def test_a_target_with_probability_zero_makes_perplexity_infinite() -> None:
    with np.errstate(divide="ignore"):
        log_probs = np.log(np.array([0.5, 0.0, 1.0]))
    assert perplexity(total_nats(log_probs), 3) == math.inf


@pytest.mark.spec(36)
@pytest.mark.parametrize("vocabulary_size", [2, 65, 50_002])
def test_the_uniform_model_has_the_size_of_the_vocabulary_as_perplexity(vocabulary_size: int) -> None:
    log_probs = np.full(7, -math.log(vocabulary_size))
    assert perplexity(total_nats(log_probs), 7) == pytest.approx(vocabulary_size)


@pytest.mark.spec(36)
def test_perplexity_is_exp_of_the_mean_negative_log_likelihood() -> None:
    probs = [0.5, 0.25, 0.1]
    mean = -(math.log(0.5) + math.log(0.25) + math.log(0.1)) / 3
    assert perplexity(total_nats(np.log(probs)), 3) == pytest.approx(math.exp(mean))


@pytest.mark.spec(37)
@given(probs=probabilities)
def test_perplexity_is_the_inverse_of_the_geometric_mean(probs: list[float]) -> None:
    geometric_mean = math.prod(p ** (1 / len(probs)) for p in probs)
    assert perplexity(total_nats(np.log(probs)), len(probs)) == pytest.approx(1 / geometric_mean)


@pytest.mark.spec(37)
def test_perplexity_is_neither_the_harmonic_nor_the_arithmetic_mean_of_choices() -> None:
    probs = np.array([0.5, 0.125])
    found = perplexity(total_nats(np.log(probs)), 2)
    assert found == pytest.approx(4.0)  # √(2 · 8)
    assert np.mean(1 / probs) == pytest.approx(5.0)
    assert 2 / np.sum(probs) == pytest.approx(3.2)


@pytest.mark.spec(38)
@given(probs=probabilities)
def test_bits_are_the_length_of_the_code_and_agree_with_nats_and_perplexity(probs: list[float]) -> None:
    nats = total_nats(np.log(probs))
    bits = bits_per_token(nats, len(probs))
    assert bits == pytest.approx(sum(-math.log2(p) for p in probs) / len(probs), abs=1e-12)
    assert 2**bits == pytest.approx(perplexity(nats, len(probs)))
    assert bits * math.log(2) == pytest.approx(nats_per_token(nats, len(probs)))


@pytest.mark.spec(38)
def test_bits_per_character_divide_by_characters_not_tokens() -> None:
    # Two words of 3 and 5 characters, each with probability 1/16: 8 bits in all.
    nats = total_nats(np.log([1 / 16, 1 / 16]))
    assert bits_per_token(nats, 2) == pytest.approx(4.0)
    assert bits_per_character(nats, 8) == pytest.approx(1.0)


def test_a_mean_too_large_for_a_float_is_infinite_and_not_an_error() -> None:
    assert perplexity(1e6, 2) == math.inf


def test_many_small_float32_terms_are_summed_without_loss() -> None:
    log_probs = np.full(3_000_000, -0.1, dtype=np.float32)
    assert total_nats(log_probs) == pytest.approx(3_000_000 * float(np.float32(0.1)), rel=1e-9)


def test_no_targets_are_refused() -> None:
    with pytest.raises(UsageError, match="the mean over 0 targets is undefined"):
        perplexity(0.0, 0)
