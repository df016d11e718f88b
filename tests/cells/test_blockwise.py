"""Rows that are worked on block by block give what they give at once."""

from __future__ import annotations

import pytest
import torch

from seqlab.cells.base import Cell
from seqlab.cells.coupled_lstm import CoupledLSTM
from seqlab.cells.fast.blockwise import BLOCK_ROWS, add_products, row_blocks
from seqlab.cells.layer_norm_lstm import LayerNormLSTM
from seqlab.cells.lstm import LSTM
from seqlab.cells.peephole_lstm import PeepholeLSTM
from seqlab.cells.projected_lstm import ProjectedLSTM
from tests.cells.fast_and_plain import drawn, scanned, with_drawn_weights


def test_the_blocks_are_all_rows_in_their_order() -> None:
    left, right = drawn(2 * BLOCK_ROWS + 3, 2), drawn(2 * BLOCK_ROWS + 3, 4, seed=1)
    pairs = list(row_blocks(left, right))
    assert [len(some) for some, _ in pairs] == [BLOCK_ROWS, BLOCK_ROWS, 3]
    assert torch.equal(torch.cat([some for some, _ in pairs]), left)
    assert torch.equal(torch.cat([others for _, others in pairs]), right)


def test_products_of_all_blocks_are_added_to_what_was_there() -> None:
    left, right, to = (
        drawn(2 * BLOCK_ROWS + 3, 5),
        drawn(2 * BLOCK_ROWS + 3, 5, seed=1),
        torch.ones(5, dtype=torch.float64),
    )
    add_products(left, right, to=to)
    torch.testing.assert_close(to, 1 + torch.diag(left.T @ right), rtol=0, atol=1e-10)


@pytest.mark.parametrize(
    "cell",
    [
        LSTM(2, 3),
        CoupledLSTM(2, 3),
        PeepholeLSTM(2, 3),
        PeepholeLSTM(2, 3, peepholes="full"),
        LayerNormLSTM(2, 3),
        ProjectedLSTM(2, 3, proj_size=2),
    ],
    ids=lambda cell: type(cell).__name__,
)
def test_fast_scans_over_several_blocks_equal_the_plain_ones(cell: Cell) -> None:
    lengths = [3 + row % 4 for row in range(250)]  # 1123 rows
    assert sum(lengths) > 2 * BLOCK_ROWS
    fast, plain = (
        scanned(with_drawn_weights(cell), lengths, reverse=False, fast=fast) for fast in (True, False)
    )
    torch.testing.assert_close(fast, plain, rtol=1e-9, atol=1e-9)
