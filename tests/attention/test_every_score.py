"""What every score promises, with every way of normalising and every window."""

from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from seqlab.attention.attend import Attention
from seqlab.attention.base import score_functions
from seqlab.attention.recording import record_alignments
from seqlab.core.errors import UsageError
from tests.attention.scores_to_try import (
    ANY_TWO_SIZES,
    NORMALISERS,
    SCORES,
    WINDOWS,
    build_score,
    numbers,
    randomised,
)

pytestmark = pytest.mark.slow  # a sweep over every variant: short each, long together

BATCH, TARGET, SOURCE = 3, 4, 7
every_score = pytest.mark.parametrize("name", SCORES)
every_normaliser = pytest.mark.parametrize("kind", NORMALISERS)
every_window = pytest.mark.parametrize("window", WINDOWS)
COMBINATIONS = [
    (name, kind, window)
    for name in SCORES
    for kind in NORMALISERS
    for window in WINDOWS
    if window == "global" or name == "general"
]
every_combination = pytest.mark.parametrize(
    ("name", "kind", "window"), COMBINATIONS, ids=["-".join(combination) for combination in COMBINATIONS]
)
WITH_GRADIENTS = [combination for combination in COMBINATIONS if combination[1] != "hard"]
"""Every score with every way of normalising; every window with every way of normalising."""


def build(name: str, kind: str = "soft", window: str = "global") -> Attention:
    score = build_score(name)
    attention = Attention(score, normalizer=NORMALISERS[kind](), window=WINDOWS[window](score.query_size))
    randomised(attention)
    return attention


def queries_and_keys(attention: Attention, *, source: int = SOURCE) -> tuple[Tensor, Tensor]:
    return numbers(BATCH, TARGET, attention.score.query_size), numbers(
        BATCH, source, attention.score.key_size, seed=2
    )


def test_every_score_says_what_it_is() -> None:
    assert set(SCORES) == {"additive", "concat", "dot", "general", "scaled_dot"}
    assert all(score_functions.summary(name).endswith(".") for name in SCORES)


@every_score
def test_each_pair_is_scored_by_itself(name: str) -> None:
    score = build_score(name)
    queries, keys = numbers(BATCH, TARGET, score.query_size), numbers(BATCH, SOURCE, score.key_size, seed=2)
    found = score(queries, keys)
    assert found.shape == (BATCH, TARGET, SOURCE)
    for row in range(BATCH):
        for target in (0, 3):
            for source in (1, 6):
                alone = score(
                    queries[row : row + 1, target : target + 1], keys[row : row + 1, source : source + 1]
                )
                torch.testing.assert_close(found[row, target, source], alone[0, 0, 0], rtol=0, atol=1e-12)


@every_combination
def test_padding_changes_nothing(name: str, kind: str, window: str) -> None:
    attention = build(name, kind, window)
    queries, keys = queries_and_keys(attention)
    lengths = torch.tensor([7, 2, 5])
    is_token = torch.arange(SOURCE) < lengths[:, None]
    nonsense = torch.where(is_token.unsqueeze(-1), keys, 100 * keys + 30)
    contexts, alignment = attention(queries, nonsense, may_attend=is_token.unsqueeze(1))
    for row, length in enumerate(lengths.tolist()):
        context, own = attention(queries[row : row + 1], keys[row : row + 1, :length])
        torch.testing.assert_close(contexts[row], context[0], rtol=0, atol=1e-12)
        torch.testing.assert_close(alignment[row, :, :length], own[0], rtol=0, atol=1e-12)
        assert (alignment[row, :, length:] == 0).all()


@pytest.mark.spec(145)
@every_score
@every_normaliser
def test_other_order_of_sources_gives_the_alignment_in_that_order_and_the_same_context(
    name: str, kind: str
) -> None:
    attention = build(name, kind)
    queries, keys = queries_and_keys(attention)
    order = torch.tensor([3, 0, 6, 2, 5, 1, 4])
    contexts, alignment = attention(queries, keys)
    other_contexts, other = attention(queries, keys[:, order])
    torch.testing.assert_close(other, alignment[:, :, order], rtol=0, atol=1e-12)
    torch.testing.assert_close(other_contexts, contexts, rtol=0, atol=1e-12)


@every_combination
def test_gradients_reach_every_parameter(name: str, kind: str, window: str) -> None:
    attention = build(name, kind, window).train()
    queries, keys = queries_and_keys(attention)
    attention(queries.requires_grad_(), keys)[0].square().sum().backward()
    assert queries.grad is not None
    assert queries.grad.any()
    assert [
        n
        for n, parameter in attention.named_parameters()
        if parameter.grad is None or not parameter.grad.any()
    ] == []


@pytest.mark.parametrize(
    ("name", "kind", "window"), WITH_GRADIENTS, ids=["-".join(combination) for combination in WITH_GRADIENTS]
)
def test_gradients_are_right(name: str, kind: str, window: str) -> None:
    attention = build(name, kind, window)
    queries, keys = (
        numbers(1, 3, attention.score.query_size).requires_grad_(),
        numbers(1, 4, attention.score.key_size, seed=2).requires_grad_(),
    )
    may_attend = torch.tensor([[[1, 1, 0, 1], [0, 0, 0, 0], [1, 1, 1, 1]]]).bool()
    assert torch.autograd.gradcheck(
        lambda q, k: attention(q, k, may_attend=may_attend), (queries, keys), fast_mode=True
    )


masks = st.lists(st.lists(st.booleans(), min_size=5, max_size=5), min_size=6, max_size=6)


@pytest.mark.spec(122)
@every_combination
@settings(max_examples=12)
@given(rows=masks)
def test_any_mask_gives_weights_where_it_allows_and_zeros_with_zero_gradients_where_it_does_not(
    name: str, kind: str, window: str, rows: list[list[bool]]
) -> None:
    attention = build(name, kind, window).train()
    may_attend = torch.tensor(rows).view(2, 3, 5)
    queries = numbers(2, 3, attention.score.query_size).requires_grad_()
    keys = numbers(2, 5, attention.score.key_size, seed=2).requires_grad_()
    contexts, alignment = attention(queries, keys, may_attend=may_attend)
    assert (alignment[~may_attend] == 0).all()
    assert (alignment >= 0).all()
    if window == "global":
        expected = may_attend.any(dim=-1).double()
        torch.testing.assert_close(alignment.sum(dim=-1), expected, rtol=0, atol=1e-12)
    torch.testing.assert_close(contexts, torch.einsum("bts,bsk->btk", alignment, keys), rtol=0, atol=1e-12)
    (contexts * numbers(*contexts.shape, seed=3)).sum().backward()
    assert queries.grad is not None
    assert keys.grad is not None
    assert torch.isfinite(queries.grad).all()
    assert torch.isfinite(keys.grad).all()
    assert (queries.grad[~may_attend.any(dim=-1)] == 0).all()
    assert (keys.grad[~may_attend.any(dim=1)] == 0).all()
    assert all(
        torch.isfinite(parameter.grad).all()
        for parameter in attention.parameters()
        if parameter.grad is not None
    )


@every_score
@every_window
def test_a_batch_that_may_attend_to_nothing_teaches_nothing(name: str, window: str) -> None:
    attention = build(name, "soft", window)
    queries, keys = queries_and_keys(attention)
    contexts, alignment = attention(
        queries.requires_grad_(), keys, may_attend=torch.zeros(1, 1, SOURCE, dtype=torch.bool)
    )
    assert not contexts.any()
    assert not alignment.any()
    contexts.sum().backward()
    assert all(parameter.grad is None or not parameter.grad.any() for parameter in attention.parameters())


@pytest.mark.spec(128)
@every_score
def test_keys_are_also_the_values_and_a_source_is_read_once(name: str) -> None:
    attention = build(name)
    queries, keys = queries_and_keys(attention)
    contexts, alignment = attention(queries, keys)
    torch.testing.assert_close(contexts, alignment @ keys, rtol=0, atol=1e-12)
    torch.testing.assert_close(attention(queries, keys, keys)[0], contexts, rtol=0, atol=0)
    source = attention.project_source(keys)
    for target in range(TARGET):
        context, own = attention.attend(queries[:, target : target + 1], source)
        torch.testing.assert_close(context[:, 0], contexts[:, target], rtol=0, atol=1e-12)
        torch.testing.assert_close(own[:, 0], alignment[:, target], rtol=0, atol=1e-12)


@every_score
@every_window
def test_alignments_are_recorded_with_one_head(name: str, window: str) -> None:
    attention = build(name, window=window)
    queries, keys = queries_and_keys(attention)
    with record_alignments(attention) as recorded:
        _, alignment = attention(queries, keys)
    assert torch.equal(recorded[""][0], alignment.unsqueeze(1))
    assert attention.alignment_hook is None


@pytest.mark.spec(127)
@every_score
def test_sizes_that_do_not_fit_are_refused_with_words(name: str) -> None:
    score = build_score(name)
    kind = type(score).__name__
    with pytest.raises(UsageError) as caught:
        score(numbers(2, 3, score.query_size + 1), numbers(2, 4, score.key_size))
    assert (
        f"queries of width {score.query_size + 1}, but this {kind} was built for queries of width"
        f" {score.query_size}." in str(caught.value)
    )
    with pytest.raises(
        UsageError,
        match=(
            rf"keys of width 1, but this {kind} was built for keys of width {score.key_size}\.\n.*project the"
            r" keys"
        ),
    ):
        score(numbers(2, 3, score.query_size), numbers(2, 4, 1))


@pytest.mark.spec(127)
@pytest.mark.parametrize("name", sorted(set(SCORES) - set(ANY_TWO_SIZES)))
def test_a_product_of_two_widths_is_refused_with_words(name: str) -> None:
    with pytest.raises(UsageError) as caught:
        score_functions.get(name)(5, 7)
    assert f"the score '{name}'" in caught.value.what
    assert "queries have width 5 and keys 7" in caught.value.what
    assert "general, additive or concat" in caught.value.cure


@pytest.mark.spec(122)
@every_score
def test_the_context_is_the_sum_of_softmax_weights_times_values_in_plain_arithmetic(name: str) -> None:
    attention = build(name)
    queries, keys = queries_and_keys(attention)
    values = numbers(BATCH, SOURCE, 3, seed=5)
    found, _ = attention(queries, keys, values)
    raw = attention.score(queries, keys)
    for row in range(BATCH):
        for target in range(TARGET):
            powers = [math.exp(x) for x in raw[row, target].tolist()]
            for feature, got in enumerate(found[row, target].tolist()):
                expected = sum(
                    p / sum(powers) * v for p, v in zip(powers, values[row, :, feature].tolist(), strict=True)
                )
                assert got == pytest.approx(expected, abs=1e-12)
