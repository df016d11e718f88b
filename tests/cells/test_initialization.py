"""The starts of weights, for every cell that is there."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import nn

from seqlab.cells.base import cells
from seqlab.cells.initialization import initialize
from seqlab.cells.lstm import LSTM
from seqlab.cells.rnn import RNN
from seqlab.core.errors import UsageError
from tests.cells.cells_to_try import CASE_NAMES, CASES, build
from tests.check_each import check_each

pytestmark = pytest.mark.slow  # a sweep over every variant: short each, long together

KINDS: Any = ["torch", "orthogonal", "identity", "xavier"]
every_cell = pytest.mark.parametrize(("name", "options"), CASES, ids=CASE_NAMES)


@every_cell
def test_the_blocks_of_the_recurrent_matrix_are_what_was_asked_for(
    name: str, options: dict[str, Any]
) -> None:
    cell = build(name, options)
    if cell.recurrent is None:
        return
    initialize(cell, "orthogonal")
    for block in cell.recurrent.detach().split(cell.hidden_size):
        torch.testing.assert_close(block.T @ block, torch.eye(block.shape[1]).double(), rtol=0, atol=1e-12)
    initialize(cell, "identity")
    for block in cell.recurrent.detach().split(cell.hidden_size):
        assert torch.equal(block, torch.eye(*block.shape).double())


@every_cell
def test_every_start_fills_every_weight_with_usable_numbers(name: str, options: dict[str, Any]) -> None:
    cell = build(name, options)

    def fills(kind: Any) -> None:
        with torch.no_grad():
            for parameter in cell.parameters():
                parameter.fill_(float("nan"))
        initialize(cell, kind)
        assert all(parameter.isfinite().all() for parameter in cell.parameters())
        assert all(parameter.requires_grad for parameter in cell.parameters())

    check_each(KINDS, fills)


def test_torchs_start_is_that_of_torchs_layer() -> None:
    torch.manual_seed(3)
    layer = nn.RNN(200, 100)
    cell = RNN(200, 100)
    initialize(cell, "torch")
    for found, expected in (
        (cell.input, layer.get_parameter("weight_ih_l0")),
        (cell.recurrent, layer.get_parameter("weight_hh_l0")),
    ):
        assert found.abs().max() <= 0.1
        assert found.std().item() == pytest.approx(expected.std().item(), rel=0.05)


def test_xavier_counts_the_rows_of_one_gate() -> None:
    torch.manual_seed(3)
    cell = LSTM(50, 30)
    initialize(cell, "xavier")
    for weights, columns in ((cell.input, 50), (cell.recurrent, 30)):
        bound = (6 / (30 + columns)) ** 0.5
        assert 0.97 * bound < weights.abs().max() <= bound


def test_a_forget_bias_outlives_every_start() -> None:
    for kind in KINDS:
        cell = LSTM(3, 4, forget_bias=1.5)
        initialize(cell, kind)
        assert cell.bias is not None
        assert (cell.bias[4:8] == 1.5).all()


def test_a_relu_cell_that_starts_as_the_identity_remembers() -> None:
    """Le et al. 2015: without input the state stays as it is."""
    cell = RNN(3, 4, activation="relu")
    initialize(cell, "identity")
    hidden = torch.rand(2, 4)
    state = (hidden,)
    for _ in range(50):
        _, state = cell(torch.zeros(2, 3), state)
    assert torch.equal(state[0], hidden)


def test_an_unknown_start_is_refused() -> None:
    wrong: Any = "orthogonl"
    with pytest.raises(UsageError, match="there is no weight initialization called 'orthogonl'") as error:
        initialize(cells.get("rnn")(2, 3), wrong)
    assert "Did you mean 'orthogonal'?" in str(error.value)
