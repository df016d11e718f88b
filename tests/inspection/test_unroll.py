"""An unrolled network shows what the network itself computes, whoever built it."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest
import torch
from torch import Tensor, nn

import seqlab.nn.gru
import seqlab.nn.lstm
import seqlab.nn.rnn
from seqlab.blocks.merge import MergeName
from seqlab.blocks.recurrent import build_stack
from seqlab.cells.base import cells
from seqlab.cells.lstm import LSTM
from seqlab.core.errors import UsageError
from seqlab.inspection.unroll import unroll

LENGTHS = [3, 7, 1, 5]
IN, HIDDEN = 4, 5
OPTIONS: dict[str, dict[str, Any]] = {"projected_lstm": {"proj_size": 2}}

TORCH_LAYERS = {
    "rnn": lambda **more: nn.RNN(IN, HIDDEN, **more),
    "relu": lambda **more: nn.RNN(IN, HIDDEN, nonlinearity="relu", **more),
    "lstm": lambda **more: nn.LSTM(IN, HIDDEN, **more),
    "gru": lambda **more: nn.GRU(IN, HIDDEN, **more),
    "projected": lambda **more: nn.LSTM(IN, HIDDEN, proj_size=2, **more),
    "no bias": lambda **more: nn.GRU(IN, HIDDEN, bias=False, **more),
}


def some_steps(batch: int = 4, time: int = 7, seed: int = 2) -> Tensor:
    return torch.randn(batch, time, IN, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


def same(found: Any, expected: Any) -> None:
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("bidirectional", [False, True])
@pytest.mark.parametrize("name", TORCH_LAYERS)
def test_a_layer_of_torch_unrolled_gives_its_outputs_states_and_gradients(
    name: str, bidirectional: bool
) -> None:
    torch.manual_seed(1)
    layer = (
        TORCH_LAYERS[name](num_layers=2, bidirectional=bidirectional, batch_first=True, dropout=0.5)
        .double()
        .eval()
    )
    steps = some_steps()
    rows = 4 if bidirectional else 2
    state: Any = torch.randn(rows, 4, 2 if name == "projected" else HIDDEN, dtype=torch.float64)
    if isinstance(layer, nn.LSTM):
        state = (state, torch.randn(rows, 4, HIDDEN, dtype=torch.float64))
    outputs, last = layer(steps, state)
    unrolled = unroll(layer, steps, state=state)
    same(unrolled.outputs, outputs)
    hidden = last[0] if isinstance(layer, nn.LSTM) else last
    same(torch.stack([track.hidden[track.last_step] for track in unrolled.traces]), hidden)
    if isinstance(layer, nn.LSTM):
        same(torch.stack([track.memory[track.last_step] for track in unrolled.traces]), last[1])
    weights = list(layer.parameters())
    same(
        torch.autograd.grad(unrolled.outputs.square().sum(), weights),
        torch.autograd.grad(outputs.square().sum(), weights),
    )


@pytest.mark.parametrize("name", TORCH_LAYERS)
def test_ragged_sequences_are_walked_as_if_each_were_alone(name: str) -> None:
    layer = TORCH_LAYERS[name](num_layers=2, bidirectional=True, batch_first=True).double()
    steps = some_steps()
    is_token = torch.arange(7) < torch.tensor(LENGTHS)[:, None]
    unrolled = unroll(layer, steps.masked_fill(~is_token.unsqueeze(-1), torch.nan), LENGTHS)
    for row, length in enumerate(LENGTHS):
        same(unrolled.outputs[row, :length], layer(steps[row : row + 1, :length])[0][0])
    assert (unrolled.outputs[~is_token] == 0).all()
    assert unrolled.lengths == LENGTHS
    assert all(
        gradient.isfinite().all()
        for gradient in torch.autograd.grad(unrolled.outputs.sum(), list(layer.parameters()))
    )


@pytest.mark.parametrize("name", cells.names())
def test_every_cell_unrolled_in_a_stack_equals_the_stack(name: str) -> None:
    torch.manual_seed(4)
    stack = build_stack(
        IN,
        partial(cells.get(name), **OPTIONS.get(name, {})),
        [3, HIDDEN],
        bidirectional=True,
        initial_state="learned",
    ).double()
    steps = some_steps()
    is_token = torch.arange(7) < torch.tensor(LENGTHS)[:, None]
    state = tuple(torch.randn(4, size, dtype=torch.float64) for size in stack.state_sizes)
    for given in (None, state):
        expected, last = stack(steps, is_token, given)
        unrolled = unroll(stack, steps, torch.tensor(LENGTHS), given)
        same(unrolled.outputs, expected)
        found = [
            part[track.last_step]
            for track in unrolled.traces
            for part in (track.hidden, track.memory)
            if part
        ]
        same(found, list(last))


@pytest.mark.parametrize("merge", ["concat", "mean", "sum", "learned"])
def test_merges_and_residual_layers_are_followed(merge: MergeName) -> None:
    stack = (
        build_stack(IN, LSTM, [4, 4, 4], bidirectional=True, merge=merge, residual=True, dropout=0.5)
        .double()
        .eval()
    )
    steps = some_steps()
    same(unroll(stack, steps).outputs, stack(steps, torch.ones(4, 7, dtype=torch.bool))[0])
    assert len(unroll(stack.layers[0], steps).traces) == 2


@pytest.mark.parametrize(
    "layer",
    [
        seqlab.nn.lstm.LSTM(
            IN, HIDDEN, 2, batch_first=True, cell="peephole", bidirectional=True, merge="learned"
        ),
        seqlab.nn.lstm.LSTM(IN, batch_first=True, hidden_sizes=[3, 5], bidirectional=True, merge="mean"),
        seqlab.nn.gru.GRU(IN, HIDDEN, batch_first=True, cell="single_gate"),
        seqlab.nn.rnn.RNN(IN, HIDDEN, 2, batch_first=True, cell="orthogonal_rnn"),
    ],
    ids=["peephole", "widths", "single gate", "orthogonal"],
)
def test_layers_with_the_face_of_torch_keep_their_own_equations(layer: nn.RNNBase) -> None:
    layer = layer.double()
    steps = some_steps()
    _, state = layer(some_steps(seed=3))  # any state in the layer's own form
    same(unroll(layer, steps, state=state).outputs, layer(steps, state)[0])


def test_single_cells_of_both_libraries_are_walked() -> None:
    steps = some_steps()
    for cell in (nn.LSTMCell(IN, HIDDEN).double(), LSTM(IN, HIDDEN).double()):
        track = unroll(cell, steps).trace()
        state: Any = (torch.zeros(4, HIDDEN, dtype=torch.float64),) * 2
        for time in range(7):
            found = cell(steps[:, time], state)
            state = found if isinstance(cell, nn.LSTMCell) else found[1]
            same((track.hidden[time], track.memory[time]), tuple(state))
    gru = nn.GRUCell(IN, HIDDEN).double()
    same(unroll(gru, steps[:, :1]).outputs[:, 0], gru(steps[:, 0]))


def test_gates_are_the_activated_ones_of_every_step_in_the_order_of_time() -> None:
    layer = nn.LSTM(IN, HIDDEN, bidirectional=True).double()
    steps = some_steps(batch=1)
    track = unroll(layer, steps).trace(reverse=True)
    for time in range(7):
        before = track.hidden[time + 1] if time < 6 else torch.zeros(1, HIDDEN, dtype=torch.float64)
        sums = (
            steps[:, time] @ layer.weight_ih_l0_reverse.T
            + layer.bias_ih_l0_reverse
            + before @ layer.weight_hh_l0_reverse.T
            + layer.bias_hh_l0_reverse
        )
        same(track.gates[time]["forget"], torch.sigmoid(sums[:, HIDDEN : 2 * HIDDEN]))
        same(track.gates[time]["candidate"], torch.tanh(sums[:, 2 * HIDDEN : 3 * HIDDEN]))
        same(track.previous_hidden(time), before)


def test_frozen_weights_and_evaluation_without_gradients_can_still_be_looked_into() -> None:
    layer = nn.LSTM(IN, HIDDEN).double().requires_grad_(False)
    with torch.no_grad():
        unrolled = unroll(layer, some_steps())
    (gradient,) = torch.autograd.grad(unrolled.outputs.sum(), unrolled.trace().hidden[:1])
    assert gradient.abs().sum() > 0


def test_unrolling_draws_no_random_numbers() -> None:
    layer, steps = nn.LSTM(IN, HIDDEN).double(), some_steps()
    before = torch.get_rng_state()
    unroll(layer, steps)
    assert torch.equal(before, torch.get_rng_state())


def test_mistakes_are_refused_with_the_sizes_found_and_expected() -> None:
    layer, steps = nn.LSTM(IN, HIDDEN, 2).double(), some_steps()
    with pytest.raises(UsageError, match=r"shape \(4, 7, 3\); .*\(batch, time, 4\)"):
        unroll(layer, steps[..., :3])
    with pytest.raises(UsageError, match="3 lengths for 4 sequences"):
        unroll(layer, steps, [1, 2, 3])
    with pytest.raises(UsageError, match="sequence 2 has 8 steps; every length must be from 1 to 7"):
        unroll(layer, steps, [1, 2, 8, 4])
    with pytest.raises(UsageError, match="the state has parts of shape"):
        unroll(layer, steps, state=(torch.zeros(2, 3, HIDDEN), torch.zeros(2, 3, HIDDEN)))
    with pytest.raises(UsageError, match="Linear is not a recurrent layer"):
        unroll(nn.Linear(IN, HIDDEN), steps)
    with pytest.raises(UsageError, match=r"no forward layer 2\.\n  .*layers: 0 to 1, forward\."):
        unroll(layer, steps).trace(2)
    with pytest.raises(UsageError, match="no backward layer -1"):
        unroll(layer, steps).trace(reverse=True)
