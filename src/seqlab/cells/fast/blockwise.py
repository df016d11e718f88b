"""The local derivatives of all rows, computed in blocks of rows that stay in the processor's cache."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor

BLOCK_ROWS = 512
"""Large enough that calls cost little, small enough that a block of every tensor fits into the cache
together.
"""


def row_blocks(*tensors: Tensor) -> Iterator[tuple[Tensor, ...]]:
    """The same rows of every tensor, block by block; all tensors have equally many rows."""
    return zip(*(tensor.split(BLOCK_ROWS) for tensor in tensors), strict=True)


def sigmoid_derivative(gate: Tensor, factor: Tensor, *, out: Tensor) -> None:
    """factor ⊙ σ', written through the value of the gate: σ' = gate - gate²."""
    torch.mul(torch.addcmul(gate, gate, gate, value=-1), factor, out=out)


def tanh_derivative(value: Tensor, factor: Tensor, *, out: Tensor) -> None:
    """factor ⊙ tanh', written through the value: tanh' = 1 - value²."""
    torch.mul(torch.addcmul(value.new_ones(()), value, value, value=-1), factor, out=out)


def add_products(left: Tensor, right: Tensor, *, to: Tensor) -> None:
    """Add to (hidden) the sum over all rows of left ⊙ right."""
    for some, others in row_blocks(left, right):
        to += (some * others).sum(dim=0)
