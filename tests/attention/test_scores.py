"""The equation of each score in plain arithmetic, and the numbers that lectures print."""

from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor, nn

import seqlab.attention.chunked_additive as pieces_file
from seqlab.attention.additive import AdditiveScore
from seqlab.attention.attend import Attention
from seqlab.attention.base import ScoreFunction
from seqlab.attention.concat import ConcatScore
from seqlab.attention.dot import DotScore
from seqlab.attention.general import GeneralScore
from seqlab.attention.scaled_dot import ScaledDotScore
from seqlab.core.errors import UsageError
from tests.attention.scores_to_try import numbers, randomised

Row = list[float]


def times(matrix: list[Row], vector: Row) -> Row:
    return [dot(row, vector) for row in matrix]


def dot(left: Row, right: Row) -> float:
    return sum(a * b for a, b in zip(left, right, strict=True))


def assert_every_pair(
    score: ScoreFunction, expected: list[list[list[float]]], queries: Tensor, keys: Tensor
) -> None:
    torch.testing.assert_close(
        score(queries, keys), torch.tensor(expected, dtype=torch.float64), rtol=0, atol=1e-12
    )


def test_additive_follows_its_equation() -> None:
    score = AdditiveScore(3, 5, hidden_size=4)
    randomised(score)
    queries, keys = numbers(2, 3, 3), numbers(2, 6, 5, seed=2)
    w, u, v = (
        score.project_query.weight.tolist(),
        score.project_key.weight.tolist(),
        score.energy.weight[0].tolist(),
    )
    expected = [
        [
            [
                dot(v, [math.tanh(a + b) for a, b in zip(times(w, q), times(u, k), strict=True)])
                for k in source
            ]
            for q in target
        ]
        for target, source in zip(queries.tolist(), keys.tolist(), strict=True)
    ]
    assert_every_pair(score, expected, queries, keys)


@pytest.mark.spec(123)
def test_concat_follows_its_equation_and_equals_additive_with_the_two_halves_of_its_weight() -> None:
    score = ConcatScore(3, 5, hidden_size=4)
    randomised(score)
    queries, keys = numbers(2, 3, 3), numbers(2, 6, 5, seed=2)
    w, v = score.project.weight.tolist(), score.energy.weight[0].tolist()
    expected = [
        [[dot(v, [math.tanh(a) for a in times(w, [*q, *k])]) for k in source] for q in target]
        for target, source in zip(queries.tolist(), keys.tolist(), strict=True)
    ]
    assert_every_pair(score, expected, queries, keys)
    assert [name for name, _ in score.named_parameters()] == ["project.weight", "energy.weight"]  # no bias

    twin = AdditiveScore(3, 5, hidden_size=4).double()
    of_query, of_key = score.project.weight.detach().split([3, 5], dim=1)
    twin.load_state_dict(
        {
            "project_query.weight": of_query,
            "project_key.weight": of_key,
            "energy.weight": score.energy.weight.detach(),
        }
    )
    assert_every_pair(twin, expected, queries, keys)


@pytest.mark.spec(124)
def test_dot_and_general_follow_their_equations() -> None:
    queries, keys = numbers(2, 3, 4), numbers(2, 6, 4, seed=2)
    pairs = list(zip(queries.tolist(), keys.tolist(), strict=True))
    assert_every_pair(
        DotScore(4, 4),
        [[[dot(q, k) for k in source] for q in target] for target, source in pairs],
        queries,
        keys,
    )
    score = GeneralScore(4, 5)
    randomised(score)
    w, wide = score.project_key.weight.tolist(), numbers(2, 6, 5, seed=3)
    expected = [
        [[dot(q, times(w, k)) for k in source] for q in target]
        for target, source in zip(queries.tolist(), wide.tolist(), strict=True)
    ]
    assert_every_pair(score, expected, queries, wide)


@pytest.mark.spec(125, 126)
@pytest.mark.parametrize(
    ("divisor", "number"), [("sqrt", math.sqrt(5)), ("size", 5.0), ("none", 1.0), (8.0, 8.0)]
)
def test_a_scaled_product_is_divided_by_what_was_asked_for(divisor: str | float, number: float) -> None:
    queries, keys = numbers(2, 3, 5), numbers(2, 6, 5, seed=2)
    score = ScaledDotScore(5, 5, divisor=divisor)  # a parameter of the test is any text
    expected = [
        [[dot(q, k) / number for k in s] for q in t]
        for t, s in zip(queries.tolist(), keys.tolist(), strict=True)
    ]
    assert_every_pair(score, expected, queries, keys)


@pytest.mark.parametrize("divisor", ["root", 0, -1.0, math.inf, math.nan])
def test_a_divisor_that_cannot_be_is_refused(divisor: object) -> None:
    with pytest.raises(UsageError, match=r"divisor is .*\n  .*'sqrt', 'size', 'none' or a "):
        ScaledDotScore(5, 5, divisor=divisor)  # what is refused


@pytest.mark.spec(126)
def test_the_larger_the_divisor_the_more_even_the_alignment() -> None:
    """For 64 random features the root keeps the choice open, dividing by 64 gives nearly the mean, dividing
    by nothing nearly one source.
    """
    queries, keys = numbers(8, 16, 64), numbers(8, 32, 64, seed=2)
    entropy = {}
    for divisor in ("none", "sqrt", "size"):
        alignment = Attention(ScaledDotScore(64, 64, divisor=divisor))(queries, keys)[1]
        entropy[divisor] = -(alignment * alignment.clamp(min=1e-300).log()).sum(dim=-1).mean().item()
    assert entropy["none"] < 0.25 * math.log(32)
    assert 0.8 * math.log(32) < entropy["sqrt"] < 0.95 * math.log(32)
    assert 0.99 * math.log(32) < entropy["size"] < math.log(32)


@pytest.mark.spec(139)
def test_a_query_retrieves_the_value_of_its_key_with_the_printed_digits() -> None:
    """The printed digits need the divisor √64 of heads with 64 features; with the √3 of the vectors as they
    stand they do not come out.
    """
    keys = torch.tensor([[[10.0, 0, 0], [0, 10, 0], [0, 0, 10], [0, 0, 10]]])
    values = torch.tensor([[[1.0, 0, 0], [10, 0, 0], [100, 5, 0], [1000, 6, 0]]])
    query = torch.tensor([[[0.0, 10, 0]]])
    context, alignment = Attention(ScaledDotScore(3, 3, divisor=math.sqrt(64)))(query, keys, values)
    assert [f"{weight:.4e}" for weight in alignment[0, 0].tolist()] == [
        "3.7266e-06",
        "9.9999e-01",
        "3.7266e-06",
        "3.7266e-06",
    ]
    assert [f"{value:.5g}" for value in context[0, 0].tolist()] == ["10.004", "4.0993e-05", "0"]
    context, alignment = Attention(ScaledDotScore(3, 3))(query, keys, values)
    assert f"{alignment[0, 0, 0]:.4e}" == "8.4333e-26"
    assert f"{context[0, 0, 0]:.5g}" == "10"


@pytest.mark.spec(140)
def test_three_scalar_tokens_give_the_printed_table() -> None:
    tokens = torch.tensor([[[0.8], [0.2], [0.1]]], dtype=torch.float64)
    expected = torch.tensor(
        [[[0.64, 0.16, 0.08], [0.16, 0.04, 0.02], [0.08, 0.02, 0.01]]], dtype=torch.float64
    )
    torch.testing.assert_close(DotScore(1, 1)(tokens, tokens), expected, rtol=0, atol=1e-15)


@pytest.mark.spec(130, 129)
@given(st.integers(1, 6), st.integers(1, 6), st.integers(1, 5), st.integers(1, 5), st.integers(1, 5))
def test_shapes_and_numbers_of_projected_keys_and_values(
    num_queries: int, num_sources: int, d_q: int, d_x: int, d_v: int
) -> None:
    """Q (N_Q, D_Q), X (N_X, D_X), W_K (D_X, D_Q), W_V (D_X, D_V): E = Q (X W_K)ᵀ / D_Q, A = softmax over the
    keys, Y = A X W_V.
    """
    q, x, w_k, w_v = (
        numbers(num_queries, d_q),
        numbers(num_sources, d_x, seed=2),
        numbers(d_x, d_q, seed=3),
        numbers(d_x, d_v, seed=4),
    )
    key, value = nn.Linear(d_x, d_q, bias=False).double(), nn.Linear(d_x, d_v, bias=False).double()
    with torch.no_grad():
        key.weight.copy_(w_k.T)
        value.weight.copy_(w_v.T)
    attention = Attention(ScaledDotScore(d_q, d_q, divisor="size"), key=key, value=value)
    y, a = attention(q.unsqueeze(0), x.unsqueeze(0))
    e = q @ (x @ w_k).T / d_q
    assert e.shape == a[0].shape == (num_queries, num_sources)
    powers = e.exp()
    torch.testing.assert_close(a[0], powers / powers.sum(dim=1, keepdim=True), rtol=0, atol=1e-12)
    assert y[0].shape == (num_queries, d_v)
    torch.testing.assert_close(y[0], a[0] @ (x @ w_v), rtol=0, atol=1e-12)


@pytest.mark.spec(133)
def test_the_column_layout_is_the_row_layout_transposed() -> None:
    """Columns are tokens: X (n, t), A = softmax down each column of Kᵀ Q, H = V A; without projections H = X
    A.
    """
    columns = numbers(4, 6)  # (n, t)
    k, v, q = numbers(3, 4, seed=2), numbers(5, 4, seed=3), numbers(3, 4, seed=4)
    a = ((k @ columns).T @ (q @ columns)).softmax(dim=0)
    rows = columns.T.unsqueeze(0)
    h, alignment = Attention(DotScore(3, 3))(rows @ q.T, rows @ k.T, rows @ v.T)
    torch.testing.assert_close(alignment[0].T, a, rtol=0, atol=1e-12)
    torch.testing.assert_close(h[0].T, v @ columns @ a, rtol=0, atol=1e-12)
    plain, alignment = Attention(DotScore(4, 4))(rows, rows)
    torch.testing.assert_close(plain[0].T, columns @ alignment[0].T, rtol=0, atol=1e-12)
    torch.testing.assert_close(alignment[0].T, (columns.T @ columns).softmax(dim=0), rtol=0, atol=1e-12)


def test_an_additive_score_made_in_pieces_gives_the_same_numbers_and_gradients(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    score = AdditiveScore(3, 5, hidden_size=4)
    randomised(score)
    queries, keys = numbers(2, 7, 3).requires_grad_(), numbers(2, 6, 5, seed=2).requires_grad_()
    parts = (queries, keys, *score.parameters())
    weights = numbers(2, 7, 6, seed=3)
    whole = score(queries, keys)
    gradients = torch.autograd.grad((whole * weights).sum(), parts)
    for largest in (1, 100, 150):  # one, two and three of seven queries at a time
        monkeypatch.setattr(pieces_file, "MAX_CHUNK_ELEMENTS", largest)
        pieces = score(queries, keys)
        torch.testing.assert_close(pieces, whole, rtol=0, atol=1e-12)
        for found, expected in zip(
            torch.autograd.grad((pieces * weights).sum(), parts), gradients, strict=True
        ):
            torch.testing.assert_close(found, expected, rtol=0, atol=1e-12)


def test_an_additive_score_never_holds_more_than_its_largest_piece(monkeypatch: pytest.MonkeyPatch) -> None:
    score = AdditiveScore(4, 4, hidden_size=8)
    held: list[int] = []
    monkeypatch.setattr(pieces_file, "MAX_CHUNK_ELEMENTS", 2 * 16 * 8 * 3)  # three queries

    def keep(tensor: Tensor) -> Tensor:
        held.append(tensor.numel())
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
        found = score(torch.randn(2, 12, 4, requires_grad=True), torch.randn(2, 16, 4))
    assert found.shape == (2, 12, 16)
    assert max(held) <= 2 * 16 * 8  # the keys as read: nothing of target * source * hidden numbers is kept
