"""The LSTM: its equations by hand, torch's own layer, and what its memory path promises."""

from __future__ import annotations

from math import tanh
from typing import Literal

import pytest
import torch
from torch import nn

from seqlab.blocks.scan import scan
from seqlab.cells.fast.lstm import LSTMScan
from seqlab.cells.kernel_choice import MIN_FILL_RATIO
from seqlab.cells.lstm import LSTM
from seqlab.cells.native.library import disable_native
from seqlab.cells.rnn import RNN
from seqlab.cells.step_layout import Packing
from seqlab.core.errors import UsageError
from tests.cells.fast_and_plain import assert_fast_equals_plain, drawn, with_drawn_weights
from tests.cells.lstm_family import (
    after_one_step,
    assert_step_and_scan_have_right_gradients,
    num_parameters,
    set_gate,
    sigmoid,
)

Candidate = Literal["tanh", "sigmoid"]
CANDIDATES: list[Candidate] = ["tanh", "sigmoid"]
WRITE, FORGET, CANDIDATE, EXPOSE = range(4)


@pytest.mark.spec(58, 59, 60)
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("activation", CANDIDATES)
def test_one_step_follows_the_equations(activation: Candidate, bias: bool) -> None:
    cell = LSTM(1, 1, bias=bias, candidate=activation)
    weights = {
        "input": torch.tensor([[0.1], [0.3], [-0.5], [0.4]]),
        "recurrent": torch.tensor([[0.2], [-0.4], [0.6], [-0.3]]),
    }
    cell.load_state_dict(weights | ({"bias": torch.tensor([0.7, -0.8, 0.9, 0.5])} if bias else {}))
    x, hidden, cell_state = 2.0, -1.0, 3.0
    input_gate = sigmoid(0.1 * x + 0.2 * hidden + 0.7 * bias)
    forget_gate = sigmoid(0.3 * x - 0.4 * hidden - 0.8 * bias)
    candidate = {"tanh": tanh, "sigmoid": sigmoid}[activation](-0.5 * x + 0.6 * hidden + 0.9 * bias)
    output_gate = sigmoid(0.4 * x - 0.3 * hidden + 0.5 * bias)
    new_memory = forget_gate * cell_state + input_gate * candidate
    assert after_one_step(cell, x, hidden, cell_state) == pytest.approx(
        (output_gate * tanh(new_memory), new_memory)
    )


@pytest.mark.spec(58, 59)
@pytest.mark.parametrize("fast", [True, False])
@pytest.mark.parametrize("reverse", [True, False])
@pytest.mark.parametrize("bias", [True, False])
def test_a_scan_is_torchs_own_layer(bias: bool, reverse: bool, fast: bool) -> None:
    cell = with_drawn_weights(LSTM(3, 5, bias=bias))
    layer = nn.LSTM(3, 5, bias=bias, batch_first=True).double()
    weights = {"weight_ih_l0": cell.input, "weight_hh_l0": cell.recurrent}
    layer.load_state_dict(
        weights
        | ({"bias_ih_l0": cell.bias / 4, "bias_hh_l0": cell.bias * 3 / 4} if cell.bias is not None else {})
    )
    packing = Packing.from_lengths(torch.tensor([7, 7]), time=7)
    steps, hidden, cell_state = drawn(2, 7, 3), drawn(2, 5, seed=1), drawn(2, 5, seed=2)
    rows, last = scan(
        cell, packing.pack(steps), (hidden, cell_state), packing.layout(reverse=reverse), fast=fast
    )
    expected, expected_last = layer(steps.flip(1) if reverse else steps, (hidden[None], cell_state[None]))
    torch.testing.assert_close(
        packing.unpack(rows), expected.flip(1) if reverse else expected, rtol=0, atol=1e-12
    )
    torch.testing.assert_close(last, tuple(part[0] for part in expected_last), rtol=0, atol=1e-12)


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("activation", CANDIDATES)
def test_the_fast_scan_equals_the_plain_one(activation: Candidate, bias: bool) -> None:
    assert_fast_equals_plain(LSTM(3, 5, bias=bias, candidate=activation))


def test_the_handwritten_scan_equals_the_fused_layer_it_stands_beside() -> None:
    """Full-length scans are handed to torch; by hand they must give the same, also in single precision and
    over several blocks of rows.
    """
    cell = LSTM(3, 5)
    packing = Packing.from_lengths(torch.full((40,), 30), time=30)
    rows, state = (
        drawn(1200, 3).float().requires_grad_(),
        (drawn(40, 5, seed=1).float(), drawn(40, 5, seed=2).float()),
    )
    found = []
    for outputs in (
        LSTMScan.apply(rows, cell.input, cell.recurrent, cell.bias, *state, packing.layout())[0],
        scan(cell, rows, state, packing.layout())[0],
    ):
        found.append(
            [
                outputs,
                *torch.autograd.grad(
                    (outputs * drawn(1200, 5, seed=3).float()).sum(), [rows, *cell.parameters()]
                ),
            ]
        )
    torch.testing.assert_close(*found, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("activation", CANDIDATES)
def test_gradients_are_right(activation: Candidate) -> None:
    assert_step_and_scan_have_right_gradients(LSTM(2, 3, candidate=activation))


@pytest.mark.parametrize("lengths", [[4, 4], [4, 2]])
def test_a_graph_that_is_kept_can_be_differentiated_twice(lengths: list[int]) -> None:
    cell = LSTM(2, 3)
    packing = Packing.from_lengths(torch.tensor(lengths), time=4)
    rows = packing.pack(torch.randn(2, 4, 2)).requires_grad_()
    outputs, _ = scan(cell, rows, cell.zero_state(torch.zeros(2, 2)), packing.layout())
    first = torch.autograd.grad(outputs.sum(), [rows, *cell.parameters()], retain_graph=True)
    assert all(
        torch.equal(a, b)
        for a, b in zip(first, torch.autograd.grad(outputs.sum(), [rows, *cell.parameters()]), strict=True)
    )


@pytest.mark.spec(61)
def test_it_has_four_times_the_parameters_of_the_plain_network() -> None:
    assert num_parameters(RNN(10, 20)) == 10 * 20 + 20 * 20 + 20 == 620
    assert num_parameters(LSTM(10, 20)) == 4 * 620 == 2_480
    assert num_parameters(LSTM(10, 20, bias=False)) == 4 * 600


@pytest.mark.spec(62)
def test_open_forget_and_closed_write_gates_copy_the_memory_over_many_steps() -> None:
    torch.manual_seed(3)
    cell = LSTM(3, 5)
    set_gate(cell, FORGET, 20.0)
    set_gate(cell, WRITE, -200.0)
    cell_state = torch.randn(2, 5)
    state = (torch.zeros(2, 5), cell_state)
    gates = cell.gates(cell.project(torch.randn(2, 3)), state)
    assert (gates["forget"] == 1.0).all()  # below 1 on paper: 1 - 2e-9 is not a number of 24 bits
    assert (gates["input"] == 0.0).all()
    for fast in (True, False):
        packing = Packing.from_lengths(torch.tensor([1000, 990]), time=1000)
        _, (_, last) = scan(cell, packing.pack(torch.randn(2, 1000, 3)), state, packing.layout(), fast=fast)
        assert torch.equal(last, cell_state)


@pytest.mark.spec(62)
def test_gates_lie_between_zero_and_one_and_may_reach_them_in_single_precision_only() -> None:
    cell = LSTM(1, 1)
    with torch.no_grad():
        cell.input.fill_(1.0)
        cell.recurrent.zero_()
        cell.get_parameter("bias").zero_()
    inputs = torch.linspace(-15, 17, 33).unsqueeze(1)
    state = cell.zero_state(inputs)
    forget_gate = cell.gates(cell.project(inputs), state)["forget"]
    assert (forget_gate[inputs < 16] < 1).all()
    assert forget_gate[-1] == 1.0
    assert (forget_gate > 0).all()
    exact = cell.double().gates(cell.project(inputs.double()), cell.zero_state(inputs.double()))["forget"]
    assert (exact < 1).all()


@pytest.mark.spec(95)
def test_with_its_gates_held_the_memory_passes_on_the_forget_gate_and_nothing_else() -> None:
    cell = with_drawn_weights(LSTM(3, 4))
    # gates that see the input only, so they stay as they are when the memory is moved
    cell.recurrent.data.zero_()
    steps, cell_state = drawn(6, 1, 3), drawn(1, 4, seed=1).requires_grad_()
    state, product = (drawn(1, 4, seed=2), cell_state), torch.ones(4, dtype=torch.float64)
    for x in steps:
        forget_gate = cell.gates(cell.project(x), state)["forget"][0].detach()
        before = state[1]
        _, state = cell(x, state)
        step = torch.stack(
            [torch.autograd.grad(unit, before, retain_graph=True)[0][0] for unit in state[1][0]]
        )
        torch.testing.assert_close(step, torch.diag(forget_gate), rtol=0, atol=1e-14)
        product = product * forget_gate
    path = torch.stack(
        [torch.autograd.grad(unit, cell_state, retain_graph=True)[0][0] for unit in state[1][0]]
    )
    torch.testing.assert_close(path, torch.diag(product), rtol=0, atol=1e-14)
    assert (product <= 1).all()


@pytest.mark.spec(95)
def test_through_the_hidden_state_the_gradient_can_still_explode() -> None:
    """The direct way is at most 1; the way memory → hidden → gates → memory multiplies by the recurrent
    weights at every step.
    """
    cell = LSTM(1, 4).double()
    torch.manual_seed(1)
    with torch.no_grad():
        cell.input.zero_()
        cell.get_parameter("bias").zero_()
        cell.recurrent.copy_(20 * torch.randn_like(cell.recurrent))
    start = torch.zeros(1, 4, dtype=torch.float64, requires_grad=True)
    norms, state = [], (torch.zeros(1, 4, dtype=torch.float64), start)
    for _ in range(12):
        assert (cell.gates(cell.project(start.new_zeros(1, 1)), state)["forget"] <= 1).all()
        _, state = cell(start.new_zeros(1, 1), state)
        rows = torch.stack(
            [torch.autograd.grad(unit, start, retain_graph=True)[0][0] for unit in state[1][0]]
        )
        norms.append(torch.linalg.matrix_norm(rows, 2).item())
    assert norms[0] == pytest.approx(0.5)  # the hidden state was zero: only the direct way, and σ(0) = 1/2
    assert norms[1] > 1
    assert norms[-1] > 1e3


def test_the_forget_gate_starts_open_and_the_rest_as_in_torch() -> None:
    cell = LSTM(3, 16, forget_bias=2.5)
    assert cell.bias is not None
    assert (cell.bias[16:32] == 2.5).all()
    rest = torch.cat([cell.bias[:16], cell.bias[32:], cell.input.flatten(), cell.recurrent.flatten()])
    assert rest.abs().max() <= 0.25
    assert rest.abs().max() > 0.24


def test_an_unknown_candidate_is_refused_with_the_choices() -> None:
    with pytest.raises(UsageError, match="candidate is 'relu'") as caught:
        LSTM(2, 3, candidate="relu")
    assert "'tanh' or 'sigmoid'" in str(caught.value)


@pytest.mark.parametrize("reverse", [True, False])
@pytest.mark.parametrize("bias", [True, False])
def test_memories_of_sequences_that_have_ended_are_held_while_torchs_layer_scans_their_padding(
    bias: bool, reverse: bool
) -> None:
    cell = with_drawn_weights(LSTM(3, 5, bias=bias))
    packing = Packing.from_lengths(torch.tensor([8, 7, 9, 7]), time=10)
    rows, state = (
        drawn(31, 3).requires_grad_(),
        (drawn(4, 5, seed=1).requires_grad_(), drawn(4, 5, seed=2).requires_grad_()),
    )
    found = []
    with disable_native():
        for fast in (True, False):
            outputs, last = scan(cell, rows, state, packing.layout(reverse=reverse), fast=fast)
            loss = sum((part * drawn(*part.shape, seed=7)).sum() for part in (outputs, *last))
            found.append((outputs, *last, *torch.autograd.grad(loss, [rows, *state, *cell.parameters()])))
    assert MIN_FILL_RATIO < packing.layout().fill_ratio < 1
    for held, plain in zip(*found, strict=True):
        torch.testing.assert_close(held, plain, rtol=0, atol=1e-11)
