"""A product with few rows, as every layer makes one for each new token of a search."""

from __future__ import annotations

from functools import cached_property

import torch
from jaxtyping import Float
from torch import Tensor


class PackedLinear:
    """x W + b, with W in the order of memory in which a product with so few rows reads it.

    One row reads W along its longer side, and takes b as the row that it is. Several rows take oneDNN's own
    order, in which the part of W that they share stays in the cache; torch would put it into such an order at
    every call. Each copy is made when it is first needed, and most searches need one. A bias of zeros, as
    many published networks have them, is left out.
    """

    def __init__(self, weight: Float[Tensor, "output input"], bias: Float[Tensor, " output"] | None) -> None:
        self._weight = weight.detach()
        self._bias = None if bias is None or not bias.any() else bias.detach()
        self._can_pack = (
            weight.dtype == torch.float32 and weight.device.type == "cpu" and has_weight_packing()
        )

    def __call__(self, rows: Float[Tensor, "rows input"]) -> Float[Tensor, "rows output"]:
        if len(rows) > 1 and self._can_pack:
            return torch.ops.mkldnn._linear_pointwise(rows, self._packed, self._bias, "none", [], "")  # noqa: SLF001  # what torch.compile calls too
        return (
            torch.mm(rows, self._transposed)
            if self._bias is None
            else torch.addmm(self._bias.unsqueeze(0), rows, self._transposed)
        )

    @cached_property
    def _transposed(self) -> Float[Tensor, "input output"]:
        num_outputs, num_inputs = self._weight.shape
        return self._weight.t() if num_inputs > num_outputs else self._weight.t().contiguous()

    @cached_property
    def _packed(self) -> Tensor:
        return torch.ops.mkldnn._reorder_linear_weight(self._weight)  # noqa: SLF001  # see above


def has_weight_packing() -> bool:
    """Whether this torch has oneDNN, and the two calls under the names that they have in 2.13."""
    names = ("_reorder_linear_weight", "_linear_pointwise")
    return torch.backends.mkldnn.is_available() and all(hasattr(torch.ops.mkldnn, name) for name in names)
