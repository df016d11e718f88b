"""One GRU written as another: equal for every input where that is claimed, refused with the reason where it
is not.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from seqlab.cells.base import Cell, cells
from seqlab.cells.conversions.gru import (
    from_single_gate,
    gru_from_torch,
    gru_to_torch,
    to_reset_after,
    to_reset_before,
    with_keep,
)
from seqlab.cells.gru import GRU
from seqlab.cells.reset_before_gru import ResetBeforeGRU
from seqlab.cells.single_gate import SingleGate
from seqlab.core.errors import UsageError
from tests.cells.fast_and_plain import FULL, RAGGED, drawn, scanned, with_drawn_weights

IN, HIDDEN = 3, 5
Change = Callable[[Any], None]


def same(cell: Cell, other: Cell) -> None:
    """Equal outputs and states from drawn inputs and first states, also where sequences are ragged."""
    for lengths in (RAGGED, FULL):
        found, expected = (scanned(each, lengths, reverse=False, fast=False)[:2] for each in (other, cell))
        torch.testing.assert_close(found, expected, rtol=0, atol=1e-12)


def built(kind: type[Any], change: Change | None = None, **options: Any) -> Any:
    cell = with_drawn_weights(kind(IN, HIDDEN, **options))
    if change is not None:
        with torch.no_grad():
            change(cell)
    return cell


def constant_resets(cell: Any) -> None:
    cell.input[:HIDDEN] = 0
    cell.recurrent[:HIDDEN] = 0


def one_reset_for_all(cell: Any) -> None:
    for part in (cell.input, cell.recurrent, cell.bias):
        part[:HIDDEN] = part[:1].clone()


def own_memory_only(cell: Any) -> None:
    cell.recurrent[2 * HIDDEN :] *= torch.eye(HIDDEN)


def two_groups(cell: Any) -> None:
    """Units 0 and 3 share a reset gate and read each other; 1 and 2 have constant gates and do the same; 4 is
    alone.
    """
    for part in (cell.input, cell.recurrent, cell.bias):
        part[3] = part[0]
    for part in (cell.input, cell.recurrent):
        part[1:3] = 0
    allowed = torch.eye(HIDDEN)
    for one, other in ((0, 3), (1, 2)):
        allowed[one, other] = allowed[other, one] = 1
    cell.recurrent[2 * HIDDEN :] *= allowed


def no_second_bias(cell: GRU) -> None:
    assert cell.recurrent_bias is not None
    cell.recurrent_bias.zero_()


MOVABLE: list[Change] = [constant_resets, one_reset_for_all, own_memory_only, two_groups]


@pytest.mark.spec(69)
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("keep", ["old", "new"])
@pytest.mark.parametrize("kind", ["gru", "reset_before_gru", "single_gate"])
def test_the_gates_sign_turns_one_convention_into_the_other(kind: str, keep: Any, bias: bool) -> None:
    cell = built(cells.get(kind), keep=keep, bias=bias)
    other = with_keep(cell, "new" if keep == "old" else "old")
    assert other.keep != keep
    gate = slice(cell.update_gate * HIDDEN, (cell.update_gate + 1) * HIDDEN)
    assert torch.equal(other.recurrent[gate], -cell.recurrent[gate])
    same(cell, other)
    assert all(
        torch.equal(one, back)
        for one, back in zip(cell.parameters(), with_keep(other, keep).parameters(), strict=True)
    )


def test_a_copy_in_the_same_convention_is_a_copy() -> None:
    cell = built(GRU)
    other = with_keep(cell, "old")
    same(cell, other)
    with torch.no_grad():
        other.input.zero_()
    assert cell.input.abs().min() > 0


@pytest.mark.spec(68)
@pytest.mark.parametrize("change", MOVABLE)
@pytest.mark.parametrize("keep", ["old", "new"])
def test_reset_before_becomes_reset_after_and_comes_back_where_that_is_possible(
    change: Change, keep: Any
) -> None:
    cell = built(ResetBeforeGRU, change, keep=keep)
    after = to_reset_after(cell)
    same(cell, after)
    same(cell, to_reset_before(after))


@pytest.mark.spec(68)
@pytest.mark.parametrize("change", MOVABLE)
def test_reset_after_becomes_reset_before_where_that_is_possible(change: Change) -> None:
    cell = built(GRU, change)
    if change is not constant_resets:
        with torch.no_grad():
            no_second_bias(cell)
    same(cell, to_reset_before(cell))


def test_without_biases_too() -> None:
    cell = built(ResetBeforeGRU, constant_resets, bias=False)
    same(cell, to_reset_after(cell))
    same(cell, to_reset_before(to_reset_after(cell)))


@pytest.mark.spec(68)
def test_drawn_weights_are_refused_because_units_have_different_reset_gates() -> None:
    with pytest.raises(
        UsageError,
        match=r"reset_before_gru to gru: candidate 0 reads unit 1, .*reset gate",
    ):
        to_reset_after(built(ResetBeforeGRU))
    with pytest.raises(UsageError, match="gru to reset_before_gru: candidate 0 reads unit 1"):
        to_reset_before(built(GRU))


@pytest.mark.spec(68)
@pytest.mark.parametrize("change", [one_reset_for_all, own_memory_only])
def test_a_second_bias_behind_a_moving_gate_is_refused(change: Change) -> None:
    with pytest.raises(UsageError, match=r"recurrent_bias of unit 0 is .* its reset gate scales it"):
        to_reset_before(built(GRU, change))


@pytest.mark.spec(65, 66, 68)
def test_printed_candidates_are_refused_with_their_reason() -> None:
    with pytest.raises(UsageError, match=r"the candidate is sigmoid.*\n.*\(0, 1\)"):
        to_reset_after(built(ResetBeforeGRU, own_memory_only, candidate="sigmoid"))
    outside = built(ResetBeforeGRU, own_memory_only, candidate_bias="outside")
    with pytest.raises(UsageError, match=r"candidate's bias.*\n.*beyond ±1"):
        to_reset_after(outside)
    with torch.no_grad():
        outside.bias[2 * HIDDEN :] = 0
    same(outside, to_reset_after(outside))


def wavy(*shape: int, phase: float) -> Tensor:
    """Weights that need no random numbers: sines, so that the number below can be found again anywhere."""
    return torch.sin(torch.arange(torch.Size(shape).numel(), dtype=torch.float64) * 1.7 + phase).view(shape)


@pytest.mark.spec(68)
def test_on_the_same_weights_the_two_forms_differ_by_a_seventh_over_ten_steps() -> None:
    """Root of the mean squared difference of the states, which lie in (-1, 1)."""
    before, after = ResetBeforeGRU(IN, HIDDEN).double(), GRU(IN, HIDDEN).double()
    weights = {
        "input": wavy(15, 3, phase=0.1),
        "recurrent": wavy(15, 5, phase=0.2),
        "bias": wavy(15, phase=0.3),
    }
    before.load_state_dict(weights)
    after.load_state_dict(weights | {"recurrent_bias": torch.zeros(HIDDEN, dtype=torch.float64)})
    states, squared = [torch.zeros(4, HIDDEN, dtype=torch.float64)] * 2, []
    for step in wavy(10, 4, IN, phase=0.4):
        states = [cell(step, (state,))[0] for cell, state in zip((before, after), states, strict=True)]
        squared.append((states[0] - states[1]).square().mean())
    assert squared[0] == 0  # from a zero state there is nothing to reset
    assert torch.stack(squared).mean().sqrt().item() == pytest.approx(0.135521, abs=1e-6)


@pytest.mark.spec(67, 68)
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("keep", ["old", "new"])
def test_a_single_gate_is_a_gru_of_either_form(keep: Any, bias: bool) -> None:
    cell = built(SingleGate, keep=keep, bias=bias)
    same(cell, from_single_gate(cell))
    same(cell, to_reset_before(from_single_gate(cell)))


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("keep", ["old", "new"])
def test_a_cell_goes_into_torchs_layer(keep: Any, bias: bool) -> None:
    cell = built(GRU, keep=keep, bias=bias)
    layer = nn.GRU(IN, HIDDEN, bias=bias).double()
    layer.load_state_dict(gru_to_torch(cell))
    steps, state = drawn(7, IN), drawn(1, HIDDEN, seed=1)
    expected, _ = layer(steps.unsqueeze(1), state.unsqueeze(0))
    for step, output in zip(steps, expected, strict=True):
        state, _ = cell(step.unsqueeze(0), (state,))
        torch.testing.assert_close(state, output, rtol=0, atol=1e-12)
    same(cell, gru_from_torch(layer.state_dict()))


def test_torchs_cell_and_its_reverse_layers_come_in_by_their_suffix() -> None:
    torch.manual_seed(0)
    step, state = drawn(2, IN), drawn(2, HIDDEN, seed=1)
    theirs = nn.GRUCell(IN, HIDDEN).double()
    torch.testing.assert_close(
        gru_from_torch(theirs.state_dict(), "")(step, (state,))[0], theirs(step, state), rtol=0, atol=1e-12
    )
    layers = nn.GRU(IN, HIDDEN, bidirectional=True).double()
    expected = layers(step.unsqueeze(0))[0][0, :, HIDDEN:]
    torch.testing.assert_close(
        gru_from_torch(layers.state_dict(), "_l0_reverse")(step)[0], expected, rtol=0, atol=1e-12
    )


def test_conversions_draw_no_random_numbers_and_can_be_trained() -> None:
    cell = built(SingleGate)
    before = torch.random.get_rng_state()
    other = from_single_gate(cell)
    assert torch.equal(torch.random.get_rng_state(), before)
    assert all(
        isinstance(parameter, nn.Parameter) and parameter.requires_grad for parameter in other.parameters()
    )
