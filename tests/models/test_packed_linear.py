"""Products with few rows: whatever order the weights are copied into, x W + b comes out."""

from __future__ import annotations

import pytest
import torch
from torch.nn import functional as F

from seqlab.models.single_step import product as single_step_product
from seqlab.models.single_step.product import PackedLinear, has_weight_packing


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("rows", [1, 2, 5, 33])
@pytest.mark.parametrize("has_bias", [True, False])
@pytest.mark.parametrize("outputs", [11, 5])
@torch.inference_mode()
def test_every_number_of_rows_gives_the_linear_map(
    rows: int, outputs: int, has_bias: bool, dtype: torch.dtype
) -> None:
    x, weight = torch.randn(rows, 7, dtype=dtype), torch.randn(outputs, 7, dtype=dtype)
    bias = torch.randn(outputs, dtype=dtype) if has_bias else None
    torch.testing.assert_close(
        PackedLinear(weight, bias)(x),
        F.linear(x, weight, bias),
        rtol=0,
        atol=1e-5 if dtype == torch.float32 else 1e-12,
    )


@torch.inference_mode()
def test_one_product_serves_one_row_many_rows_and_one_again() -> None:
    x, weight, bias = torch.randn(9, 6), torch.randn(5, 6), torch.randn(5)
    product = PackedLinear(weight, bias)
    for rows in (x[:1], x, x[:4], x[3:4]):
        torch.testing.assert_close(product(rows), F.linear(rows, weight, bias), rtol=0, atol=1e-5)


@torch.inference_mode()
def test_a_torch_without_packed_products_multiplies_as_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(single_step_product, "has_weight_packing", lambda: False)
    x, weight, bias = torch.randn(5, 6), torch.randn(3, 6), torch.zeros(3)
    product = PackedLinear(weight, bias)
    assert torch.equal(product(x), torch.mm(x, weight.t().contiguous()))


@pytest.mark.skipif(not torch.backends.mkldnn.is_available(), reason="this torch was built without oneDNN")
def test_the_names_in_torch_are_still_there() -> None:
    assert has_weight_packing()
