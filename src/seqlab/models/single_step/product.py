"""Matrix products with few rows, as needed for each new token of a search."""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor


class PackedLinear:
    """x W + b, with W in the memory layouts that are fastest for few rows.

    A single row reads W along its longer side. Several rows use oneDNN's layout, in which the shared part of
    W stays in the cache; torch would convert W at every call. Both layouts are built here once and never
    change, since any search may end with a single row. An all-zero bias, common in published networks, is
    skipped.
    """

    @torch.no_grad()
    def __init__(self, weight: Float[Tensor, "output input"], bias: Float[Tensor, " output"] | None) -> None:
        num_outputs, num_inputs = weight.shape
        weight = weight.detach()
        can_pack = weight.dtype == torch.float32 and weight.device.type == "cpu" and has_weight_packing()
        self._bias = None if bias is None or not bias.any() else bias.detach()
        self._transposed = weight.t() if num_inputs > num_outputs else weight.t().contiguous()
        self._packed = torch.ops.mkldnn._reorder_linear_weight(weight) if can_pack else None  # noqa: SLF001  # see below

    def __call__(self, rows: Float[Tensor, "rows input"]) -> Float[Tensor, "rows output"]:
        if len(rows) > 1 and self._packed is not None:
            return torch.ops.mkldnn._linear_pointwise(rows, self._packed, self._bias, "none", [], "")  # noqa: SLF001  # what torch.compile calls too
        return (
            torch.mm(rows, self._transposed)
            if self._bias is None
            else torch.addmm(self._bias.unsqueeze(0), rows, self._transposed)
        )


def has_weight_packing() -> bool:
    """Whether this torch has oneDNN and the two functions under their names in torch 2.13."""
    names = ("_reorder_linear_weight", "_linear_pointwise")
    return torch.backends.mkldnn.is_available() and all(hasattr(torch.ops.mkldnn, name) for name in names)
