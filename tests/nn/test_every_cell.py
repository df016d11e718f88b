"""Every cell of seqlab behind torch's face gives what its own equations give, step by step."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor
from torch.nn.utils.rnn import pack_sequence, unpack_sequence

from seqlab import nn
from seqlab.cells.base import Cell, State, cells

pytestmark = pytest.mark.slow  # a sweep over every variant: short each, long together

LENGTHS = [3, 7, 1, 5]
IN, HIDDEN = 3, 5
CHOICES: list[Any] = [
    *(name for name in cells.names() if name != "projected_lstm"),
    {"kind": "peephole_lstm", "peepholes": "full", "gates": ("forget", "output")},
    {"kind": "lstm", "candidate": "sigmoid"},
    {"kind": "gru", "keep": "new"},
    {"kind": "reset_before_gru", "candidate_bias": "outside"},
    {"kind": "orthogonal_rnn", "activation": "tanh", "radius": 0.1},
    {"kind": "additive", "candidate": "linear"},
]


def build(choice: Any, **options: Any) -> Any:
    """The layer for a cell: an LSTM where there is a memory, else a GRU."""
    kind = cells.get(choice if isinstance(choice, str) else choice["kind"])
    torch.manual_seed(2)
    layer = (nn.LSTM if kind.num_state_tensors == 2 else nn.GRU)(
        IN, HIDDEN, cell=choice, dtype=torch.float64, **options
    )
    with torch.no_grad():
        for parameter in layer.parameters():  # no zeros, or a bias that is left out would not be missed
            parameter.add_(torch.randn_like(parameter), alpha=0.1)
    return layer


def cell_of(layer: Any, choice: Any, suffix: str, input_size: int) -> Cell:
    """The cell by itself, with the layer's numbers in its own parameters."""
    options = dict(choice) if isinstance(choice, dict) else {"kind": choice}
    cell = cells.get(options.pop("kind"))(input_size, HIDDEN, bias=layer.bias, **options).double()
    names = {
        "input": "weight_ih",
        "recurrent": "weight_hh",
        "peephole": "weight_ch",
        "input_gain": "gain_ih",
        "recurrent_gain": "gain_hh",
        "cell_gain": "gain_c",
        "cell_shift": "shift_c",
    }
    for name, parameter in cell.named_parameters():
        if name == "bias":
            value = getattr(layer, f"bias_ih{suffix}").clone()
            second = getattr(layer, f"bias_hh{suffix}", torch.zeros_like(value)).clone()
            if hasattr(cell, "recurrent_bias"):
                second[-HIDDEN:] = 0
            value += second
        elif name == "recurrent_bias":
            value = getattr(layer, f"bias_hh{suffix}")[-HIDDEN:]
        else:
            value = getattr(layer, names.get(name, name) + suffix)
        parameter.data = value.detach()
    return cell


def step_by_step(cell: Cell, sequence: Tensor, *, reverse: bool) -> tuple[Tensor, State]:
    state, outputs = cell.zero_state(sequence[:1]), []
    for step in sequence.flip(0) if reverse else sequence:
        hidden, state = cell(step.unsqueeze(0), state)
        outputs.append(hidden)
    return torch.cat(outputs[::-1] if reverse else outputs), state


def sequences() -> list[Tensor]:
    return [
        torch.randn(length, IN, dtype=torch.float64, generator=torch.Generator().manual_seed(length))
        for length in LENGTHS
    ]


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("choice", CHOICES, ids=str)
def test_packed_sequences_follow_the_cells_own_equations(choice: Any, bias: bool) -> None:
    layer = build(choice, num_layers=2, bidirectional=True, bias=bias)
    output, last = layer(pack_sequence(sequences(), enforce_sorted=False))
    parts = last if isinstance(last, tuple) else (last,)
    found = unpack_sequence(output)
    for row, sequence in enumerate(sequences()):
        below = sequence
        for depth in range(2):
            pair = [
                step_by_step(
                    cell_of(layer, choice, f"_l{depth}{suffix}", below.shape[1]), below, reverse=bool(suffix)
                )
                for suffix in ("", "_reverse")
            ]
            below = torch.cat([outputs for outputs, _ in pair], dim=1)
            for direction, (_, state) in enumerate(pair):
                expected = [part[0] for part in state]
                torch.testing.assert_close(
                    [part[2 * depth + direction, row] for part in parts], expected, rtol=0, atol=1e-11
                )
        torch.testing.assert_close(found[row], below, rtol=0, atol=1e-11)


@pytest.mark.parametrize("choice", CHOICES, ids=str)
def test_gradients_reach_every_parameter_and_are_those_of_the_plain_path(choice: Any) -> None:
    gradients = []
    for fast in (True, False):
        layer = build(choice, fast=fast, bidirectional=True)
        output, _ = layer(pack_sequence(sequences(), enforce_sorted=False))
        (
            output.data * torch.linspace(-1, 2, output.data.numel(), dtype=torch.float64).view_as(output.data)
        ).sum().backward()
        gradients.append({name: parameter.grad for name, parameter in layer.named_parameters()})
    assert all(gradient is not None and gradient.abs().sum() > 0 for gradient in gradients[0].values())
    torch.testing.assert_close(gradients[0], gradients[1], rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize("choice", CHOICES, ids=str)
def test_all_forms_of_input_agree(choice: Any) -> None:
    layer = build(choice, num_layers=2)
    steps = torch.randn(6, 4, IN, dtype=torch.float64)
    output, last = layer(steps)
    state = last if isinstance(last, tuple) else (last,)
    packed, _ = layer(pack_sequence(list(steps.unbind(1))))
    torch.testing.assert_close(packed.data.view(6, 4, HIDDEN), output, rtol=0, atol=1e-12)
    single, single_last = layer(steps[:, 2])
    torch.testing.assert_close(single, output[:, 2], rtol=0, atol=1e-12)
    single_state = single_last if isinstance(single_last, tuple) else (single_last,)
    torch.testing.assert_close(single_state, tuple(part[:, 2] for part in state), rtol=0, atol=1e-12)
    layer.batch_first = True
    torch.testing.assert_close(layer(steps.transpose(0, 1))[0].transpose(0, 1), output, rtol=0, atol=1e-12)
    first, carried = layer(steps[:4].transpose(0, 1))  # in two pieces, the state carried
    second, _ = layer(steps[4:].transpose(0, 1), carried)
    torch.testing.assert_close(torch.cat([first, second], dim=1).transpose(0, 1), output, rtol=0, atol=1e-12)


@pytest.mark.parametrize("choice", CHOICES, ids=str)
def test_a_cell_walks_word_by_word_to_where_its_layer_gets(choice: Any) -> None:
    layer = build(choice)
    single = (nn.LSTMCell if isinstance(layer, nn.LSTM) else nn.GRUCell)(
        IN, HIDDEN, cell=choice, dtype=torch.float64
    )
    single.load_state_dict({name.removesuffix("_l0"): value for name, value in layer.state_dict().items()})
    sentence = torch.randn(7, 4, IN, dtype=torch.float64)
    state: Any = None
    for word in sentence:
        state = single(word, state)
    expected = (
        tuple(part[0] for part in layer(sentence)[1]) if isinstance(layer, nn.LSTM) else layer(sentence)[1][0]
    )
    torch.testing.assert_close(state, expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("choice", CHOICES, ids=str)
def test_a_batch_of_nobody_comes_back_empty(choice: Any) -> None:
    layer = build(choice, num_layers=2)
    output, last = layer(torch.zeros(4, 0, IN, dtype=torch.float64))
    assert output.shape == (4, 0, HIDDEN)
    assert all(part.shape == (2, 0, HIDDEN) for part in (last if isinstance(last, tuple) else (last,)))
