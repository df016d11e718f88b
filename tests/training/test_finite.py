"""NaN and infinity are found wherever they are, and large numbers are not mistaken for them."""

from __future__ import annotations

import math

import pytest
import torch

from seqlab.training.finite import is_finite, non_finite_names


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16, torch.float16], ids=str)
@pytest.mark.parametrize("place", [0, 17, 34])
def test_one_number_among_many_is_enough(value: float, dtype: torch.dtype, place: int) -> None:
    tensor = torch.ones(5, 7, dtype=dtype)
    assert is_finite(tensor)
    tensor.view(-1)[place] = value
    assert not is_finite(tensor)


def test_infinities_of_both_signs_do_not_cancel() -> None:
    assert not is_finite(torch.tensor([math.inf, -math.inf, 1.0]))


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16, torch.float16], ids=str)
def test_a_sum_that_overflows_is_no_infinite_number(dtype: torch.dtype) -> None:
    assert is_finite(torch.full((3, 5), torch.finfo(dtype).max, dtype=dtype))


def test_integers_and_empty_tensors_are_finite() -> None:
    tensors = {"ids": torch.tensor([2**62, 2**62]), "none": torch.empty(0), "bad": torch.tensor([math.nan])}
    assert list(non_finite_names(tensors.items())) == ["bad"]
