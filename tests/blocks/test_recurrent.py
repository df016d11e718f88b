"""A stack walked over ragged sequences equals torch's own layers walked over each sequence alone."""

from __future__ import annotations

from typing import Literal

import pytest
import torch
from torch import Tensor, nn

from seqlab.blocks.recurrent import RecurrentStack

Cell = Literal["rnn", "lstm", "gru"]
CELLS: list[Cell] = ["rnn", "lstm", "gru"]
LENGTHS = [3, 7, 1, 5]  # not sorted
IN, HIDDEN = 4, 5


def build(cell: Cell, *, layers: int = 2, bidirectional: bool = False) -> RecurrentStack:
    torch.manual_seed(9)
    return RecurrentStack(IN, cell=cell, hidden_size=HIDDEN, num_layers=layers, bidirectional=bidirectional, dropout=0.0).double()


def ragged(lengths: list[int] = LENGTHS) -> tuple[Tensor, Tensor]:
    steps = torch.randn(len(lengths), max(lengths), IN, dtype=torch.float64, generator=torch.Generator().manual_seed(2))
    is_token = torch.arange(max(lengths)) < torch.tensor(lengths)[:, None]
    return steps.masked_fill(~is_token.unsqueeze(-1), 1e3), is_token


def alone(stack: RecurrentStack, steps: Tensor, state: tuple[Tensor, ...] | None = None) -> tuple[Tensor, tuple[Tensor, ...]]:
    """torch's layers with the same weights on one whole sequence (time, in); states (layers, hidden)."""
    given = None if state is None else tuple(part.unsqueeze(1).contiguous() for part in state)
    outputs, last = stack.layers(steps.unsqueeze(0), given if given is None or len(given) == 2 else given[0])
    return outputs[0], tuple(part[:, 0] for part in (last if isinstance(last, tuple) else (last,)))


@pytest.mark.parametrize("bidirectional", [True, False])
@pytest.mark.parametrize("cell", CELLS)
def test_outputs_states_and_gradients_are_those_of_each_sequence_alone(cell: Cell, bidirectional: bool) -> None:
    stack = build(cell, bidirectional=bidirectional)
    steps, is_token = ragged()
    steps.requires_grad_()
    outputs, state = stack(steps, is_token)
    weights = torch.randn_like(outputs) * is_token.unsqueeze(-1)
    ((outputs * weights).sum() + sum(part.square().sum() for part in state)).backward()
    found = [steps.grad.clone(), *(parameter.grad.clone() for parameter in stack.parameters())]  # type: ignore[union-attr]
    steps.grad = None
    stack.zero_grad()

    for row, length in enumerate(LENGTHS):
        expected, last = alone(stack, steps[row, :length])
        torch.testing.assert_close(outputs[row, :length], expected, rtol=0, atol=1e-12)
        for part, expected_part in zip(state, last, strict=True):
            torch.testing.assert_close(part[row], expected_part, rtol=0, atol=1e-12)
        ((expected * weights[row, :length]).sum() + sum(part.square().sum() for part in last)).backward()
    expected_gradients = [steps.grad, *(parameter.grad for parameter in stack.parameters())]
    torch.testing.assert_close(found, expected_gradients, rtol=0, atol=1e-10)
    assert (found[0][~is_token] == 0).all()


@pytest.mark.parametrize("cell", CELLS)
@pytest.mark.parametrize("pieces", [[1] * 7, [4, 3], [2, 1, 4]])
def test_a_stream_in_pieces_equals_one_run(cell: Cell, pieces: list[int]) -> None:
    stack = build(cell)
    steps, _ = ragged([7, 7, 7])
    all_real = torch.ones(3, 7, dtype=torch.bool)
    whole, last = stack(steps, all_real)
    state, found = None, []
    for piece, real in zip(steps.split(pieces, dim=1), all_real.split(pieces, dim=1), strict=True):
        outputs, state = stack(piece, real, state)
        found.append(outputs)
    torch.testing.assert_close(torch.cat(found, dim=1), whole, rtol=0, atol=1e-12)
    torch.testing.assert_close(state, last, rtol=0, atol=1e-12)


@pytest.mark.parametrize("cell", CELLS)
def test_ragged_pieces_go_on_from_each_sequences_own_last_step(cell: Cell) -> None:
    stack = build(cell)
    first, first_real = ragged([3, 7, 1])
    second, second_real = ragged([2, 1, 4])
    _, state = stack(first, first_real)
    outputs, last = stack(second, second_real, state)
    for row, (before, after) in enumerate([(3, 2), (7, 1), (1, 4)]):
        expected, expected_last = alone(stack, torch.cat([first[row, :before], second[row, :after]]))
        torch.testing.assert_close(outputs[row, :after], expected[before:], rtol=0, atol=1e-12)
        torch.testing.assert_close(tuple(part[row] for part in last), expected_last, rtol=0, atol=1e-12)


@pytest.mark.spec(76)
@pytest.mark.parametrize("cell", CELLS)
def test_each_layer_reads_the_layer_below_at_the_same_step(cell: Cell) -> None:
    stack = build(cell, layers=3)
    steps, is_token = ragged([6, 6])
    kind = {"rnn": nn.RNN, "lstm": nn.LSTM, "gru": nn.GRU}[cell]
    expected = steps
    for depth in range(3):
        layer = kind(expected.shape[2], HIDDEN, batch_first=True).double()
        layer.load_state_dict({
            name.replace(f"_l{depth}", "_l0"): value for name, value in stack.layers.state_dict().items() if f"_l{depth}" in name
        })  # fmt: skip
        expected, _ = layer(expected)
    torch.testing.assert_close(stack(steps, is_token)[0], expected, rtol=0, atol=1e-12)


def test_the_backward_half_starts_at_each_sequences_own_last_step() -> None:
    stack = build("gru", layers=1, bidirectional=True)
    steps, is_token = ragged()
    outputs, _ = stack(steps, is_token)
    reverse = nn.GRU(IN, HIDDEN, batch_first=True).double()
    reverse.load_state_dict({name.removesuffix("_reverse"): value for name, value in stack.layers.state_dict().items() if name.endswith("_reverse")})
    for row, length in enumerate(LENGTHS):
        expected = reverse(steps[row : row + 1, :length].flip(1))[0].flip(1)
        torch.testing.assert_close(outputs[row, :length, HIDDEN:], expected[0], rtol=0, atol=1e-12)


@pytest.mark.parametrize("bidirectional", [True, False])
def test_an_lstm_starts_with_open_forget_gates_and_nothing_else_changed(bidirectional: bool) -> None:
    torch.manual_seed(1)
    stack = RecurrentStack(IN, cell="lstm", hidden_size=HIDDEN, num_layers=2, bidirectional=bidirectional, dropout=0.0)
    torch.manual_seed(1)
    plain = nn.LSTM(IN, HIDDEN, 2, batch_first=True, bidirectional=bidirectional)
    for (name, ours), theirs in zip(stack.layers.named_parameters(), plain.parameters(), strict=True):
        is_forget = torch.zeros(len(ours), dtype=torch.bool)
        if name.startswith("bias_ih"):
            is_forget[HIDDEN : 2 * HIDDEN] = True
        assert (ours[is_forget] == 1).all()
        assert torch.equal(ours[~is_forget], theirs[~is_forget])


def test_dropout_lies_between_layers_only() -> None:
    steps, is_token = ragged()
    one = RecurrentStack(IN, cell="gru", hidden_size=HIDDEN, num_layers=1, bidirectional=False, dropout=0.9).double()
    two = RecurrentStack(IN, cell="gru", hidden_size=HIDDEN, num_layers=2, bidirectional=False, dropout=0.9).double()
    assert torch.equal(one(steps, is_token)[0], one(steps, is_token)[0])
    assert not torch.equal(two(steps, is_token)[0], two(steps, is_token)[0])
    assert torch.equal(two.eval()(steps, is_token)[0], two(steps, is_token)[0])
