"""A stack scanned over ragged sequences equals torch's own layers scanned over each sequence alone."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor, nn

from seqlab.blocks.recurrent import RecurrentStack
from seqlab.cells.settings import CELL_KINDS
from seqlab.core.errors import UsageError
from tests.blocks.stacks_to_try import CELLS, HIDDEN, IN, LENGTHS, build, ragged, torch_layers

pytestmark = pytest.mark.slow  # a sweep over every variant: short each, long together

State = tuple[Tensor, ...]


def alone(layers: nn.RNNBase, steps: Tensor, state: State | None = None) -> tuple[Tensor, State]:
    """torch's layers on one whole sequence (time, in).

    The state as a stack has it: by layer and direction, hidden before memory.
    """
    parts = 2 if isinstance(layers, nn.LSTM) else 1
    given = (
        None
        if state is None
        else tuple(torch.stack(state[part::parts]).unsqueeze(1) for part in range(parts))
    )
    outputs, last = layers(steps.unsqueeze(0), given if given is None or parts == 2 else given[0])
    by_part = last if isinstance(last, tuple) else (last,)
    return outputs[0], tuple(part[number, 0] for number in range(len(by_part[0])) for part in by_part)


@pytest.mark.parametrize("bidirectional", [True, False])
@pytest.mark.parametrize("cell", CELLS)
def test_outputs_states_and_gradients_are_those_of_each_sequence_alone(
    cell: str, bidirectional: bool
) -> None:
    stack = build(cell, bidirectional=bidirectional)
    layers = torch_layers(cell, stack, bidirectional=bidirectional)
    steps, is_token = ragged()
    steps.requires_grad_()
    outputs, state = stack(steps, is_token)
    weights = torch.randn_like(outputs) * is_token.unsqueeze(-1)
    ((outputs * weights).sum() + sum(part.square().sum() for part in state)).backward()
    assert steps.grad is not None
    found = steps.grad.clone()
    steps.grad = None
    for row, length in enumerate(LENGTHS):
        expected, last = alone(layers, steps[row, :length])
        torch.testing.assert_close(outputs[row, :length], expected, rtol=0, atol=1e-12)
        torch.testing.assert_close(tuple(part[row] for part in state), last, rtol=0, atol=1e-12)
        ((expected * weights[row, :length]).sum() + sum(part.square().sum() for part in last)).backward()
    torch.testing.assert_close(found, steps.grad, rtol=0, atol=1e-10)
    assert (found[~is_token] == 0).all()
    for depth, layer in enumerate(stack.layers):
        for direction, suffix in (
            [(layer.onward, ""), (layer.backward, "_reverse")] if bidirectional else [(layer, "")]
        ):
            for ours, theirs in (("input", "weight_ih"), ("recurrent", "weight_hh"), ("bias", "bias_ih")):
                expected_gradient = getattr(layers, f"{theirs}_l{depth}{suffix}").grad
                torch.testing.assert_close(
                    getattr(direction.cell, ours).grad, expected_gradient, rtol=0, atol=1e-10
                )


@pytest.mark.parametrize(
    "options",
    [{}, {"bidirectional": True, "merge": "learned"}, {"residual": True}, {"initial_state": "learned"}],
    ids=str,
)
@pytest.mark.parametrize("cell", ["peephole_lstm", "reset_before_gru", "min_gru"])
def test_every_kind_of_stack_treats_each_sequence_as_if_it_were_alone(
    cell: str, options: dict[str, Any]
) -> None:
    stack = build(cell, sizes=(5, 5, 3), **options)
    steps, is_token = ragged()
    outputs, state = stack(steps, is_token)
    (outputs * is_token.unsqueeze(-1)).square().sum().backward()
    found = [parameter.grad.clone() for parameter in stack.parameters()]
    stack.zero_grad()
    for row, length in enumerate(LENGTHS):
        expected, last = stack(steps[row : row + 1, :length], is_token[row : row + 1, :length])
        torch.testing.assert_close(outputs[row, :length], expected[0], rtol=0, atol=1e-12)
        torch.testing.assert_close(
            tuple(part[row] for part in state), tuple(part[0] for part in last), rtol=0, atol=1e-12
        )
        expected.square().sum().backward()
    torch.testing.assert_close(
        found, [parameter.grad for parameter in stack.parameters()], rtol=0, atol=1e-10
    )


@pytest.mark.parametrize("bidirectional", [True, False])
@pytest.mark.parametrize("cell", CELL_KINDS)
def test_the_fast_way_gives_what_the_plain_way_gives(cell: str, bidirectional: bool) -> None:
    options = {
        "sizes": (70, 66) if cell == "projected_lstm" else (5, 3),
        "bidirectional": bidirectional,
        "residual": True,
    }
    fast, plain = build(cell, **options), build(cell, fast=False, **options)
    plain.load_state_dict(fast.state_dict())
    steps, is_token = ragged()
    results = []
    for stack in (fast, plain):
        outputs, state = stack(steps, is_token)
        (outputs.square().sum() + sum(part.sum() for part in state)).backward()
        results.append([outputs, *state, *(parameter.grad for parameter in stack.parameters())])
    torch.testing.assert_close(results[0], results[1], rtol=1e-9, atol=1e-9)


@pytest.mark.spec(79)
def test_the_two_directions_are_independent_networks() -> None:
    stack = build("gru", sizes=(HIDDEN,), bidirectional=True)
    steps, is_token = ragged([6])
    before, _ = stack(steps, is_token)
    with torch.no_grad():
        stack.layers[0].backward.cell.input.mul_(2)
    after, _ = stack(steps, is_token)
    assert torch.equal(before[..., :HIDDEN], after[..., :HIDDEN])
    assert not torch.equal(before[..., HIDDEN:], after[..., HIDDEN:])


def test_the_backward_half_starts_at_each_sequences_own_last_step() -> None:
    stack = build("gru", sizes=(HIDDEN,), bidirectional=True)
    steps, is_token = ragged()
    outputs, _ = stack(steps, is_token)
    backwards = RecurrentStack([stack.layers[0].backward])
    backwards.layers[0].reverse = False
    for row, length in enumerate(LENGTHS):
        expected, _ = backwards(steps[row : row + 1, :length].flip(1), is_token[row : row + 1, :length])
        torch.testing.assert_close(outputs[row, :length, HIDDEN:], expected[0].flip(0), rtol=0, atol=1e-12)


@pytest.mark.spec(79)
def test_side_by_side_the_directions_double_what_the_next_layer_reads() -> None:
    stack = build("lstm", sizes=(5, 3), bidirectional=True)
    assert [layer.input_size for layer in stack.layers] == [IN, 10]
    assert stack.output_size == 6
    halved = build("lstm", sizes=(5, 3), bidirectional=True, merge="mean")
    assert [layer.input_size for layer in halved.layers] == [IN, 5]
    assert halved.output_size == 3


@pytest.mark.parametrize("cell", CELLS)
@pytest.mark.parametrize("pieces", [[1] * 7, [4, 3], [2, 1, 4]])
def test_a_stream_in_pieces_equals_one_run(cell: str, pieces: list[int]) -> None:
    stack = build(cell)
    steps, all_real = ragged([7, 7, 7])
    whole, last = stack(steps, all_real)
    state, found = None, []
    for piece, real in zip(steps.split(pieces, dim=1), all_real.split(pieces, dim=1), strict=True):
        outputs, state = stack(piece, real, state)
        found.append(outputs)
    torch.testing.assert_close(torch.cat(found, dim=1), whole, rtol=0, atol=1e-12)
    torch.testing.assert_close(state, last, rtol=0, atol=1e-12)


@pytest.mark.parametrize("cell", CELLS)
def test_ragged_pieces_go_on_from_each_sequences_own_last_step(cell: str) -> None:
    stack = build(cell)
    layers = torch_layers(cell, stack)
    first, first_real = ragged([3, 7, 1])
    second, second_real = ragged([2, 1, 4], seed=3)
    _, state = stack(first, first_real)
    outputs, last = stack(second, second_real, state)
    for row, (before, after) in enumerate([(3, 2), (7, 1), (1, 4)]):
        expected, expected_last = alone(layers, torch.cat([first[row, :before], second[row, :after]]))
        torch.testing.assert_close(outputs[row, :after], expected[before:], rtol=0, atol=1e-12)
        torch.testing.assert_close(tuple(part[row] for part in last), expected_last, rtol=0, atol=1e-12)


@pytest.mark.spec(73)
@pytest.mark.parametrize("bidirectional", [True, False])
@pytest.mark.parametrize("cell", CELLS)
def test_a_given_state_is_where_each_sequence_starts(cell: str, bidirectional: bool) -> None:
    stack = build(cell, bidirectional=bidirectional)
    layers = torch_layers(cell, stack, bidirectional=bidirectional)
    steps, is_token = ragged()
    given = tuple(torch.randn(len(LENGTHS), size, dtype=torch.float64) for size in stack.state_sizes)
    outputs, _ = stack(steps, is_token, given)
    for row, length in enumerate(LENGTHS):
        expected, _ = alone(layers, steps[row, :length], tuple(part[row] for part in given))
        torch.testing.assert_close(outputs[row, :length], expected, rtol=0, atol=1e-12)


@pytest.mark.spec(76, 77)
@pytest.mark.parametrize("cell", CELLS)
def test_each_layer_reads_the_layer_below_at_the_same_step_and_itself_at_the_step_before(cell: str) -> None:
    stack = build(cell, sizes=(7, 3, 5))
    steps, is_token = ragged([6, 6])
    outputs, _ = stack(steps, is_token)
    states: list[State | None] = [None] * 3
    for t in range(6):
        below = steps[:, t]
        for depth, layer in enumerate(stack.layers):
            below, states[depth] = layer.cell(below, states[depth])
        torch.testing.assert_close(outputs[:, t], below, rtol=0, atol=1e-12)


def test_residual_layers_add_what_enters_where_the_widths_agree() -> None:
    stack, plain = build("gru", sizes=(5, 5, 3, 3), residual=True), build("gru", sizes=(5, 5, 3, 3))
    steps, is_token = ragged()
    rows, found = steps, []
    for layer in plain.layers:
        outputs, _ = RecurrentStack([layer])(rows, is_token)
        rows = outputs + rows if outputs.shape == rows.shape else outputs
        found.append(rows.shape[2])
    assert found == [5, 5, 3, 3]
    torch.testing.assert_close(stack(steps, is_token)[0][is_token], rows[is_token], rtol=0, atol=1e-12)
    assert not torch.allclose(plain(steps, is_token)[0][is_token], rows[is_token])


@pytest.mark.parametrize("locked", [True, False])
def test_dropout_lies_between_layers_only(locked: bool) -> None:
    steps, is_token = ragged()
    one = build("gru", sizes=(HIDDEN,), dropout=0.9, locked=locked)
    two = build("gru", dropout=0.9, locked=locked)
    assert torch.equal(one(steps, is_token)[0], one(steps, is_token)[0])
    assert not torch.equal(two(steps, is_token)[0], two(steps, is_token)[0])
    assert torch.equal(two.eval()(steps, is_token)[0], two(steps, is_token)[0])


@pytest.mark.parametrize("locked", [True, False])
def test_masks_between_layers_are_equal_over_time_only_when_locked(locked: bool) -> None:
    """The upper layer hands on what it reads: what was left out is zero at every step of a sequence, or
    differs from step to step.
    """
    stack = build("rnn", sizes=(40, 40), dropout=0.5, locked=locked)
    upper = stack.layers[1].cell
    with torch.no_grad():
        upper.input.copy_(torch.eye(40))
        upper.recurrent.zero_()
        upper.bias.zero_()
    steps, is_token = ragged()
    outputs, _ = stack(steps, is_token)
    for row, length in enumerate(LENGTHS):
        is_left_out = outputs[row, :length] == 0
        assert 0 < int(is_left_out[0].sum()) < 40
        if length > 1:
            assert bool((is_left_out == is_left_out[0]).all()) == locked
    assert not torch.equal(outputs[0, 0] == 0, outputs[1, 0] == 0)  # another mask for each sequence


def test_a_state_of_the_wrong_shape_is_refused_with_the_sizes_found_and_expected() -> None:
    stack = build("lstm", sizes=(5, 3))
    steps, is_token = ragged()
    _, state = stack(steps, is_token)
    cases = [
        (tuple(part[:3] for part in state), "[(3, 5), (3, 5), (3, 3), (3, 3)]"),
        (state[:2], "[(4, 5), (4, 5)]"),
        (tuple(part[:, :2] for part in state), "[(4, 2), (4, 2), (4, 2), (4, 2)]"),
    ]
    for wrong, found in cases:
        with pytest.raises(UsageError) as caught:
            stack(steps, is_token, wrong)
        assert found in str(caught.value)
        assert "[(4, 5), (4, 5), (4, 3), (4, 3)]" in str(caught.value)


def test_steps_of_the_wrong_width_are_refused_with_both_widths() -> None:
    with pytest.raises(UsageError, match=r"each step has 6 features.* 4"):
        build("gru")(torch.zeros(2, 3, 6, dtype=torch.float64), torch.ones(2, 3, dtype=torch.bool))


def test_empty_sequences_are_refused() -> None:
    steps, is_token = ragged()
    is_token[2] = False
    with pytest.raises(UsageError, match="sequence 2 is empty; every length must be from 1 to 7"):
        build("gru")(steps, is_token)
    with pytest.raises(UsageError, match="the time axis is empty"):
        build("gru")(steps[:, :0], is_token[:, :0])


def test_real_steps_after_padding_are_refused() -> None:
    steps, is_token = ragged()
    is_token[0, 5] = True
    with pytest.raises(UsageError, match="row 0 of is_token has real steps after padding"):
        build("gru")(steps, is_token)


@pytest.mark.parametrize("fast", [True, False])
@pytest.mark.parametrize("cell", CELL_KINDS)
def test_a_value_that_is_no_number_stays_in_its_own_sequence(cell: str, fast: bool) -> None:
    stack = build(cell, sizes=(70,) if cell == "projected_lstm" else (5, 5), bidirectional=True, fast=fast)
    steps, is_token = ragged()
    expected, expected_state = stack(steps, is_token)
    steps = steps.clone()
    steps[1, 2] = float("nan")
    steps.requires_grad_()
    outputs, state = stack(steps, is_token)
    others = [0, 2, 3]
    assert outputs[1, :7].isnan().any()
    assert torch.equal(outputs[others], expected[others])
    assert all(
        torch.equal(part[others], other[others]) for part, other in zip(state, expected_state, strict=True)
    )
    (gradient,) = torch.autograd.grad(outputs[others].sum(), steps)
    assert gradient[others].isfinite().all()


def test_an_lstm_starts_with_open_forget_gates() -> None:
    from seqlab.blocks.recurrent import build_stack
    from seqlab.cells.lstm import LSTM

    for layer in build_stack(IN, LSTM, (HIDDEN, 3)).layers:
        assert (layer.cell.bias.chunk(4)[1] == 1).all()
        assert (layer.cell.bias.chunk(4)[0].abs() <= layer.cell.hidden_size**-0.5).all()
