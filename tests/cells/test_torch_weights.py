"""Weights go from torch's layers into cells and back, and the outputs stay."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor, nn

from seqlab.cells.base import Cell
from seqlab.cells.conversions.torch_weights import from_torch, to_torch
from seqlab.cells.coupled_lstm import CoupledLSTM
from seqlab.cells.lstm import LSTM
from seqlab.cells.peephole_lstm import PeepholeLSTM
from seqlab.cells.rnn import RNN
from seqlab.core.errors import UsageError
from tests.cells.fast_and_plain import drawn, with_drawn_weights

LAYERS: list[tuple[type[nn.RNNBase], dict[str, Any]]] = [
    (nn.RNN, {}),
    (nn.RNN, {"nonlinearity": "relu", "bias": False}),
    (nn.LSTM, {}),
    (nn.LSTM, {"bias": False}),
    (nn.LSTM, {"proj_size": 2}),
    (nn.LSTM, {"proj_size": 2, "bias": False}),
    (nn.GRU, {}),
    (nn.GRU, {"bias": False}),
]
every_layer = pytest.mark.parametrize(("kind", "options"), LAYERS, ids=str)


def build(kind: type[nn.RNNBase], options: dict[str, Any]) -> nn.RNNBase:
    torch.manual_seed(4)
    return kind(3, 5, num_layers=2, bidirectional=True, batch_first=True, **options).double()


def stepped(cell: Cell, steps: Tensor, *, reverse: bool) -> Tensor:
    """(batch, time, input) one step after the other, from zeros."""
    state, outputs = cell.zero_state(steps), []
    for x in (steps.flip(1) if reverse else steps).unbind(1):
        hidden, state = cell(x, state)
        outputs.append(hidden)
    return torch.stack(outputs[::-1] if reverse else outputs, dim=1)


@every_layer
def test_the_cells_of_a_layer_give_its_outputs(kind: type[nn.RNNBase], options: dict[str, Any]) -> None:
    layer, steps = build(kind, options), drawn(2, 7, 3)
    found = steps
    for number in range(2):
        found = torch.cat(
            [
                stepped(from_torch(layer, number, reverse=reverse), found, reverse=reverse)
                for reverse in (False, True)
            ],
            dim=2,
        )
    torch.testing.assert_close(found, layer(steps)[0], rtol=0, atol=1e-12)


@every_layer
def test_cells_fill_a_whole_layer_of_torch(kind: type[nn.RNNBase], options: dict[str, Any]) -> None:
    layer, other, steps = build(kind, options), build(kind, options), drawn(2, 7, 3)
    nn.init.zeros_(other.all_weights[0][0])
    entries: dict[str, Tensor] = {}
    for number in range(2):
        for reverse in (False, True):
            entries |= to_torch(from_torch(layer, number, reverse=reverse), number, reverse=reverse)
    other.load_state_dict(entries)
    torch.testing.assert_close(other(steps)[0], layer(steps)[0], rtol=0, atol=1e-12)


def test_the_two_biases_become_one_and_the_second_comes_back_as_zero() -> None:
    layer = nn.LSTM(3, 5)
    cell = from_torch(layer)
    assert cell.bias is not None
    assert torch.equal(cell.bias, layer.bias_ih_l0 + layer.bias_hh_l0)
    assert (to_torch(cell)["bias_hh_l0"] == 0).all()


def test_a_cell_owns_copies_that_can_be_trained() -> None:
    layer = nn.LSTM(3, 5)
    cell = from_torch(layer)
    with torch.no_grad():
        cell.input += 1
    assert not torch.equal(cell.input, layer.weight_ih_l0)
    assert all(
        isinstance(parameter, nn.Parameter) and parameter.requires_grad for parameter in cell.parameters()
    )


def test_a_coupled_lstm_is_an_lstm_whose_writing_gate_mirrors_its_forget_gate() -> None:
    cell = with_drawn_weights(CoupledLSTM(3, 5))
    layer, steps = nn.LSTM(3, 5, batch_first=True).double(), drawn(2, 7, 3)
    layer.load_state_dict(to_torch(cell))
    torch.testing.assert_close(layer(steps)[0], stepped(cell, steps, reverse=False), rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    ("cell", "words"),
    [
        (PeepholeLSTM(3, 5), "RNN, LSTM, projected LSTM and GRU"),
        (LSTM(3, 5, candidate="sigmoid"), "LSTM supports only a tanh candidate"),
        (RNN(3, 5, activation="identity"), "RNN supports only tanh and relu"),
    ],
)
def test_cells_that_torch_does_not_have_are_refused_with_the_reason(cell: Cell, words: str) -> None:
    with pytest.raises(UsageError, match="torch has no layer with the equations of") as caught:
        to_torch(cell)
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("number", "reverse", "words"), [(1, False, "no layer 1."), (0, True, "no layer 0 in reverse.")]
)
def test_a_layer_that_is_not_there_is_refused(number: int, reverse: bool, words: str) -> None:
    with pytest.raises(UsageError, match="RNN has") as caught:
        from_torch(nn.RNN(3, 5), number, reverse=reverse)
    assert words in str(caught.value)
    assert "0 to 0, each with 1 direction." in str(caught.value)
