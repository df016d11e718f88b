"""Under torch.autocast every cell computes products in bfloat16 and gives the numbers of float32, as closely as
bfloat16 can.
"""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest
import torch
from torch import Tensor

from seqlab.blocks.scan import scan
from seqlab.cells.base import Cell
from tests.cells.cells_to_try import CASE_NAMES, CASES, LENGTHS, build, path_of, ragged

TOLERANCE = 18 * 2.0**-8
"""Largest relative error, 7%: bfloat16 has 8 bits of precision, and four steps there and back, the division of
layer norm and the inverse matrix of orthogonal cells enlarge a rounding. A wrong gate is off by far more.
"""


def outputs_and_gradients(cell: Cell, *, lengths: list[int], reverse: bool, autocast: bool) -> list[Tensor]:
    steps, state = ragged(cell, lengths, dtype=torch.float32)
    steps = steps.clamp(-3, 3)  # the padding, which is not looked at
    leaves = [tensor.requires_grad_() for tensor in (steps, *state)]
    packing, layout = path_of(lengths, reverse=reverse)
    with torch.autocast("cpu", torch.bfloat16, enabled=autocast):
        rows, last = scan(cell, packing.pack(steps), packing.sort(state), layout)
    loss = sum((part.float().square().sum() for part in (rows, *last)), start=torch.zeros(()))
    gradients = torch.autograd.grad(loss, [*leaves, *cell.parameters()])
    return [rows.float(), *(part.float() for part in last), *gradients]


@pytest.mark.parametrize(("name", "options"), CASES, ids=CASE_NAMES)
def test_bfloat16_gives_the_numbers_of_float32(name: str, options: dict[str, Any]) -> None:
    cell = build(name, options, dtype=torch.float32)
    for lengths, reverse in product((LENGTHS, [4, 4, 4]), (False, True)):
        exact = outputs_and_gradients(cell, lengths=lengths, reverse=reverse, autocast=False)
        rounded = outputs_and_gradients(cell, lengths=lengths, reverse=reverse, autocast=True)
        assert not torch.equal(exact[0], rounded[0]), "autocast was not active"
        for expected, actual in zip(exact, rounded, strict=True):
            assert (actual - expected).norm() / expected.norm() < TOLERANCE, (lengths, reverse)
