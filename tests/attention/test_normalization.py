"""Soft, hard and sparse alignments."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from seqlab.attention.normalization import HardmaxNormalizer, SoftmaxNormalizer, check_mask
from seqlab.attention.sparse import Entmax, Sparsemax
from seqlab.core.errors import MissingExtra, UsageError
from tests.attention.scores_to_try import numbers

rows = st.lists(st.floats(-20, 20), min_size=1, max_size=8)


def one_row(values: list[float]) -> Tensor:
    return torch.tensor([[values]], dtype=torch.float64)


@pytest.mark.spec(132)
@given(rows)
def test_soft_weights_add_up_to_one_and_a_hard_choice_has_one_weight_that_is_not_zero(
    values: list[float],
) -> None:
    soft, hard = SoftmaxNormalizer()(one_row(values))[0, 0], HardmaxNormalizer()(one_row(values))[0, 0]
    powers = [math.exp(value - max(values)) for value in values]
    assert soft.tolist() == pytest.approx([power / sum(powers) for power in powers], abs=1e-12)
    assert hard.tolist() == [
        1.0 if place == values.index(max(values)) else 0.0 for place in range(len(values))
    ]
    assert hard.count_nonzero() == 1


@pytest.mark.spec(132)
def test_a_hard_choice_has_the_gradient_of_the_softmax_while_training_and_none_after() -> None:
    scores, weights = numbers(2, 3, 5).requires_grad_(), numbers(2, 3, 5, seed=2)
    may_attend = numbers(2, 3, 5, seed=3) > 0
    hard = HardmaxNormalizer()
    assert torch.equal(hard.train()(scores, may_attend), hard.eval()(scores, may_attend))
    (expected,) = torch.autograd.grad((SoftmaxNormalizer()(scores, may_attend) * weights).sum(), scores)
    (found,) = torch.autograd.grad((hard.train()(scores, may_attend) * weights).sum(), scores)
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-12)
    assert not hard.eval()(scores, may_attend).requires_grad


def sparsemax_by_bisection(values: list[float]) -> list[float]:
    return by_bisection(values, lambda value, threshold: max(0.0, value - threshold))


def entmax_by_bisection(values: list[float]) -> list[float]:
    return by_bisection(values, lambda value, threshold: max(0.0, value / 2 - threshold) ** 2)


def by_bisection(values: list[float], weight: Callable[[float, float], float]) -> list[float]:
    """The threshold at which all weights together are 1."""
    low, high = min(values) / 2 - abs(min(values)) - 2, max(values) + abs(max(values)) + 2
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if sum(weight(value, middle) for value in values) > 1 else (low, middle)
    return [weight(value, (low + high) / 2) for value in values]


@given(rows)
def test_sparse_weights_are_those_of_their_definition(values: list[float]) -> None:
    assert Sparsemax()(one_row(values))[0, 0].tolist() == pytest.approx(
        sparsemax_by_bisection(values), abs=1e-9
    )
    assert Entmax()(one_row(values))[0, 0].tolist() == pytest.approx(entmax_by_bisection(values), abs=1e-7)


def test_sources_far_below_the_best_get_exactly_nothing() -> None:
    assert (Sparsemax()(one_row([1.0, 1.5, 2.5]))[0, 0] == 0).tolist() == [True, True, False]
    assert (Entmax()(one_row([0.4, 1.5, 2.5]))[0, 0] == 0).tolist() == [True, False, False]
    assert (SoftmaxNormalizer()(one_row([1.0, 1.5, 2.5]))[0, 0] > 0).all()


@pytest.mark.parametrize("kind", [SoftmaxNormalizer, HardmaxNormalizer, Sparsemax, Entmax])
@given(st.lists(st.tuples(st.floats(-30, 30), st.booleans()), min_size=1, max_size=7))
def test_a_mask_is_the_same_as_leaving_out(
    kind: type[SoftmaxNormalizer], entries: list[tuple[float, bool]]
) -> None:
    """In float32 too, where one -inf beside another would make the mean of entmax a NaN."""
    allowed = [value for value, may in entries if may]
    scores, may_attend = (
        torch.tensor([[[value for value, _ in entries]]]),
        torch.tensor([[[may for _, may in entries]]]),
    )
    found = kind()(scores, may_attend)[0, 0]
    assert (found[~may_attend[0, 0]] == 0).all()
    if allowed:
        torch.testing.assert_close(
            found[may_attend[0, 0]], kind()(torch.tensor([[allowed]]))[0, 0], rtol=0, atol=1e-6
        )
    else:
        assert not found.any()


@pytest.mark.parametrize("kind", [Sparsemax, Entmax])
def test_without_the_package_the_extra_is_named(
    kind: type[Sparsemax], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "entmax", None)
    with pytest.raises(MissingExtra) as caught:
        kind()
    assert str(caught.value) == "sparse attention needs the package 'entmax'.\n  pip install 'seqlab[sparse]'"


@pytest.mark.parametrize(
    ("mask", "words"),
    [
        (
            torch.ones(2, 3, 5),
            r"may_attend has dtype torch\.float32\.\n  .*bool",
        ),
        (torch.ones(2, 3, 5).long(), r"may_attend has dtype torch\.int64\.\n"),
        (
            torch.ones(2, 5).bool(),
            (
                r"may_attend has shape \(2, 5\), but the scores have \(2, 3, 5\): batch, target, source\.\n "
                r" .*is_token\.unsqueeze"
            ),
        ),
        (torch.ones(2, 3, 1).bool(), r"may_attend has shape \(2, 3, 1\)"),
        (torch.ones(2, 4, 5).bool(), r"may_attend has shape \(2, 4, 5\)"),
        (torch.ones(1, 2, 3, 5).bool(), r"may_attend has shape \(1, 2, 3, 5\)"),
    ],
    ids=["float", "int", "two axes", "one source", "other targets", "four axes"],
)
def test_masks_that_could_be_misread_are_refused(mask: Tensor, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        check_mask(mask, numbers(2, 3, 5))
