"""What the layers can do beyond torch.nn: cell=, merge=, hidden_sizes=, any nonlinearity, fast=False."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.nn import functional as F
from torch.nn.utils.rnn import PackedSequence, pack_sequence

from seqlab import nn
from seqlab.cells import lstm
from seqlab.cells.coupled_lstm import CoupledLSTM

IN, HIDDEN = 3, 5


def steps() -> Tensor:
    return torch.randn(7, 4, IN, dtype=torch.float64, generator=torch.Generator().manual_seed(1))


def directions(layer: Any) -> tuple[Tensor, Tensor]:
    """Both directions of a layer's first level, from torch's own layer with the same weights."""
    theirs = getattr(torch.nn, type(layer).__name__)(IN, HIDDEN, bidirectional=True, dtype=torch.float64)
    theirs.load_state_dict(
        {name: value for name, value in layer.state_dict().items() if name in theirs.state_dict()}
    )
    onward, backward = theirs(steps())[0].chunk(2, dim=-1)
    return onward, backward


@pytest.mark.parametrize("kind", [nn.RNN, nn.LSTM, nn.GRU])
def test_the_two_directions_are_averaged_or_summed(kind: Any) -> None:
    torch.manual_seed(3)
    mean = kind(IN, HIDDEN, bidirectional=True, merge="mean", dtype=torch.float64)
    onward, backward = directions(mean)
    torch.testing.assert_close(mean(steps())[0], (onward + backward) / 2, rtol=0, atol=1e-12)
    total = kind(IN, HIDDEN, bidirectional=True, merge="sum", dtype=torch.float64)
    total.load_state_dict(mean.state_dict())
    torch.testing.assert_close(total(steps())[0], onward + backward, rtol=0, atol=1e-12)


def test_a_learned_merge_is_a_trained_product() -> None:
    layer: Any = nn.GRU(IN, HIDDEN, 2, bidirectional=True, merge="learned", dtype=torch.float64)
    assert layer.weight_merge_l0.shape == layer.weight_merge_l1.shape == (HIDDEN, 2 * HIDDEN)
    assert layer.weight_ih_l1.shape == (3 * HIDDEN, HIDDEN)  # the layer above reads the merged width
    first = nn.GRU(IN, HIDDEN, bidirectional=True, merge="learned", dtype=torch.float64)
    first.load_state_dict({name: value for name, value in layer.state_dict().items() if "_l0" in name})
    expected = F.linear(torch.cat(directions(first), dim=-1), layer.weight_merge_l0, layer.bias_merge_l0)
    torch.testing.assert_close(first(steps())[0], expected, rtol=0, atol=1e-12)
    layer(steps())[0].square().sum().backward()
    assert all(parameter.grad.abs().sum() > 0 for parameter in layer.parameters())


@pytest.mark.parametrize("packed", [False, True])
def test_each_layer_may_have_its_own_width(packed: bool) -> None:
    layer = nn.LSTM(IN, hidden_sizes=[7, 4, 5], bidirectional=True, dtype=torch.float64)
    assert (layer.num_layers, layer.hidden_size, layer.hidden_sizes) == (3, 5, (7, 4, 5))
    sequences = list(steps().unbind(1))
    given: Any = pack_sequence(sequences) if packed else steps()
    output, (hidden, memory) = layer(given)
    assert (
        [tuple(part.shape) for part in hidden]
        == [tuple(part.shape) for part in memory]
        == [(2, 4, 7), (2, 4, 4), (2, 4, 5)]
    )
    below = steps()
    for depth, width in enumerate([7, 4, 5]):
        alone = torch.nn.LSTM(below.shape[-1], width, bidirectional=True, dtype=torch.float64)
        alone.load_state_dict(
            {
                name.replace(f"_l{depth}", "_l0"): value
                for name, value in layer.state_dict().items()
                if f"_l{depth}" in name
            }
        )
        below, (last, last_memory) = alone(below)
        torch.testing.assert_close((hidden[depth], memory[depth]), (last, last_memory), rtol=0, atol=1e-12)
    torch.testing.assert_close(output.data.view(7, 4, 10) if packed else output, below, rtol=0, atol=1e-12)


def test_the_state_of_uneven_layers_goes_back_in_as_it_came_out() -> None:
    layer = nn.GRU(IN, hidden_sizes=[7, 4], dtype=torch.float64)
    whole, last = layer(steps())
    first, carried = layer(steps()[:3])
    second, carried = layer(steps()[3:], carried)
    torch.testing.assert_close(torch.cat([first, second]), whole, rtol=0, atol=1e-12)
    torch.testing.assert_close(carried, last, rtol=0, atol=1e-12)
    single, single_last = layer(steps()[:, 2])
    torch.testing.assert_close(single, whole[:, 2], rtol=0, atol=1e-12)
    assert [tuple(part.shape) for part in single_last] == [(1, 7), (1, 4)]


def test_even_hidden_sizes_are_torchs_layer() -> None:
    torch.manual_seed(5)
    ours = nn.LSTM(IN, 5, 2, hidden_sizes=[5, 5])
    torch.manual_seed(5)
    theirs = torch.nn.LSTM(IN, 5, 2)
    torch.testing.assert_close(ours(steps().float()), theirs(steps().float()))


@pytest.mark.parametrize("nonlinearity", ["sigmoid", "identity", torch.sin, F.softsign])
@pytest.mark.parametrize("packed", [False, True])
def test_an_rnn_bends_its_sums_with_any_function(nonlinearity: Any, packed: bool) -> None:
    layer: Any = nn.RNN(IN, HIDDEN, nonlinearity=nonlinearity, dtype=torch.float64)
    function = {"sigmoid": torch.sigmoid, "identity": lambda sums: sums}.get(nonlinearity, nonlinearity)
    hidden, expected = torch.zeros(4, HIDDEN, dtype=torch.float64), []
    for step in steps():
        hidden = function(
            step @ layer.weight_ih_l0.T + layer.bias_ih_l0 + hidden @ layer.weight_hh_l0.T + layer.bias_hh_l0
        )
        expected.append(hidden)
    output, last = layer(pack_sequence(list(steps().unbind(1))) if packed else steps())
    torch.testing.assert_close(output.data.view(7, 4, HIDDEN), torch.stack(expected), rtol=0, atol=1e-12)
    torch.testing.assert_close(last[0], hidden, rtol=0, atol=1e-12)
    cell = nn.RNNCell(IN, HIDDEN, nonlinearity=nonlinearity, dtype=torch.float64)
    cell.load_state_dict({name.removesuffix("_l0"): value for name, value in layer.state_dict().items()})
    torch.testing.assert_close(cell(steps()[0]), expected[0], rtol=0, atol=1e-12)


def test_an_activation_named_in_the_cell_is_the_one_in_use() -> None:
    layer = nn.RNN(IN, HIDDEN, cell={"kind": "rnn", "activation": "relu"}, dtype=torch.float64)
    theirs = torch.nn.RNN(IN, HIDDEN, nonlinearity="relu", dtype=torch.float64)
    theirs.load_state_dict(layer.state_dict())
    assert torch.equal(layer(steps())[0], theirs(steps())[0])
    assert [
        nn.RNN(IN, HIDDEN, cell="orthogonal").nonlinearity,
        nn.RNNCell(IN, HIDDEN, cell="orthogonal").nonlinearity,
    ] == ["modrelu"] * 2


def test_a_cell_of_another_family_is_not_mistaken_for_torchs() -> None:
    layer = nn.RNN(IN, HIDDEN, cell="gru", dtype=torch.float64)
    theirs = torch.nn.GRU(IN, HIDDEN, dtype=torch.float64)
    theirs.load_state_dict(layer.state_dict())
    torch.testing.assert_close(layer(steps())[0], theirs(steps())[0], rtol=0, atol=1e-12)


def test_a_class_of_cells_may_be_given_even_ones_own() -> None:
    class Halved(lstm.LSTM):
        def project(self, steps: Tensor) -> Tensor:
            return super().project(steps) / 2

    layer = nn.LSTM(IN, HIDDEN, cell=Halved, dtype=torch.float64)
    theirs = torch.nn.LSTM(IN, HIDDEN, dtype=torch.float64)
    halves = {
        name: value / 2 if "_hh" not in name or "bias" in name else value
        for name, value in layer.state_dict().items()
    }
    theirs.load_state_dict(halves)
    torch.testing.assert_close(layer(steps())[0], theirs(steps())[0], rtol=0, atol=1e-12)
    assert repr(layer) == "LSTM(3, 5, cell=Halved)"
    assert repr(nn.LSTM(IN, HIDDEN, cell=CoupledLSTM)) == "LSTM(3, 5, cell=coupled_lstm)"


@pytest.mark.parametrize(
    "layer",
    [
        *(
            build(fast=fast)
            for fast in (True, False)
            for build in (
                partial(nn.RNN, 2, 3),
                partial(nn.LSTM, 2, 3, cell="peephole"),
                partial(nn.LSTM, 2, 3),
                partial(nn.LSTM, 2, 3, proj_size=2),
                partial(nn.GRU, 2, 3),
            )
        ),
    ],
    ids=str,
)
def test_second_derivatives_are_those_of_finite_differences(layer: Any) -> None:
    layer.double()
    rows = torch.randn(5, 2, dtype=torch.float64, requires_grad=True)
    sizes = torch.tensor([2, 2, 1])
    assert torch.autograd.gradgradcheck(lambda given: layer(PackedSequence(given, sizes))[0].data, (rows,))


def test_the_start_of_the_forget_gate_can_be_asked_for() -> None:
    layer: Any = nn.LSTM(IN, HIDDEN, cell={"kind": "lstm", "forget_bias": 2.0})
    assert (layer.bias_ih_l0 + layer.bias_hh_l0)[HIDDEN : 2 * HIDDEN].tolist() == [2.0] * HIDDEN
    theirs = torch.nn.LSTM(IN, HIDDEN)
    theirs.load_state_dict(layer.state_dict())
    torch.testing.assert_close(layer(steps().float()), theirs(steps().float()))


def test_a_layer_says_what_it_is() -> None:
    assert repr(nn.LSTM(3, 5)) == repr(torch.nn.LSTM(3, 5))
    assert repr(nn.LSTM(3, 5, proj_size=2)) == repr(torch.nn.LSTM(3, 5, proj_size=2))
    assert (
        repr(
            nn.GRU(
                3,
                hidden_sizes=[4, 5],
                cell={"kind": "gru", "keep": "new"},
                bidirectional=True,
                merge="sum",
                fast=False,
            )
        )
        == "GRU(3, 5, num_layers=2, bidirectional=True, hidden_sizes=(4, 5), cell=gru(keep=new), merge=sum,"
        " fast=False)"
    )
    assert repr(nn.RNN(3, 5, nonlinearity=torch.sin)) == "RNN(3, 5, nonlinearity=sin)"
    assert repr(nn.RNNCell(3, 5, bias=False, nonlinearity="relu")) == repr(
        torch.nn.RNNCell(3, 5, bias=False, nonlinearity="relu")
    )
    assert repr(nn.GRUCell(3, 5, cell="single_gate")) == "GRUCell(3, 5, cell=single_gate)"
