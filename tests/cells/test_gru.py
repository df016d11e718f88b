"""torch's GRU: its equations by hand, torch's own layer beside it, and the fast scan beside the plain one."""

from __future__ import annotations

from math import exp, tanh

import pytest
import torch
from torch import nn

from seqlab.blocks.scan import scan
from seqlab.cells.conversions.gru import gru_from_torch
from seqlab.cells.gate_convention import GateConvention
from seqlab.cells.gru import GRU
from seqlab.cells.kernel_choice import fast_scan
from seqlab.cells.native.library import disable_native
from seqlab.cells.step_layout import Packing
from seqlab.core.errors import UsageError
from tests.cells.fast_and_plain import (
    FULL,
    assert_fast_equals_plain,
    assert_gradients_are_right,
    drawn,
    scanned,
    with_drawn_weights,
)

KEEPS: list[GateConvention] = ["old", "new"]


def sigmoid(value: float) -> float:
    return 1 / (1 + exp(-value))


def small(keep: GateConvention) -> GRU:
    cell = GRU(1, 1, keep=keep)
    cell.load_state_dict({
        "input": torch.tensor([[0.1], [0.3], [-0.5]]), "recurrent": torch.tensor([[0.2], [-0.4], [0.6]]),
        "bias": torch.tensor([0.7, -0.8, 0.9]), "recurrent_bias": torch.tensor([-1.1]),
    })  # fmt: skip
    return cell


@pytest.mark.parametrize("keep", KEEPS)
def test_one_step_follows_the_equations(keep: GateConvention) -> None:
    cell, x, hidden = small(keep), 2.0, -1.0
    reset = sigmoid(0.1 * x + 0.2 * hidden + 0.7)
    update = sigmoid(0.3 * x - 0.4 * hidden - 0.8)
    candidate = tanh(-0.5 * x + 0.9 + reset * (0.6 * hidden - 1.1))
    expected = (
        update * hidden + (1 - update) * candidate
        if keep == "old"
        else (1 - update) * hidden + update * candidate
    )
    output, (state,) = cell.step(cell.project(torch.tensor([[x]])), (torch.tensor([[hidden]]),))
    assert output.item() == pytest.approx(expected)
    assert torch.equal(output, state)


def test_its_gates_can_be_looked_at() -> None:
    cell = small("new")
    gates = cell.gates(cell.project(torch.tensor([[2.0]])), (torch.tensor([[-1.0]]),))
    keep, write = cell.mixing_coefficients(gates)
    assert gates["reset"].item() == pytest.approx(sigmoid(0.7))
    assert write.item() == pytest.approx(gates["update"].item()) == pytest.approx(sigmoid(0.2))
    assert (keep + write).item() == pytest.approx(1)


@pytest.mark.spec(68, 74)
def test_two_cells_above_each_other_give_the_numbers_and_shapes_of_torchs_two_layers() -> None:
    torch.manual_seed(4)
    layers = nn.GRU(10, 20, 2).double()
    steps, first = drawn(5, 3, 10).requires_grad_(), drawn(2, 3, 20, seed=1)
    expected, expected_last = layers(steps, first)
    cells = [gru_from_torch(layers.state_dict(), f"_l{depth}") for depth in (0, 1)]
    layout = Packing.from_lengths(torch.tensor([5, 5, 5]), time=5).layout()
    rows, last = steps.flatten(0, 1), []
    for cell, hidden in zip(cells, first, strict=True):
        rows, state = scan(cell, rows, (hidden,), layout)
        last.append(state[0])
    outputs = rows.view(5, 3, 20)
    assert torch.stack(last).shape == (2, 3, 20)
    torch.testing.assert_close((outputs, torch.stack(last)), (expected, expected_last), rtol=0, atol=1e-12)

    weights = drawn(5, 3, 20, seed=2)
    (ours,) = torch.autograd.grad((outputs * weights).sum(), steps, retain_graph=True)
    (theirs,) = torch.autograd.grad((expected * weights).sum(), steps)
    torch.testing.assert_close(ours, theirs, rtol=0, atol=1e-12)


def test_every_weight_gets_torchs_gradient() -> None:
    torch.manual_seed(5)
    layer = nn.GRU(3, 5).double()
    cell = gru_from_torch(layer.state_dict())
    steps, weights = drawn(7, 4, 3), drawn(7, 4, 5, seed=1)
    (layer(steps)[0] * weights).sum().backward()
    outputs, _ = scan(
        cell,
        steps.flatten(0, 1),
        cell.zero_state(steps[0]),
        Packing.from_lengths(torch.tensor([7] * 4), time=7).layout(),
    )
    (outputs.view(7, 4, 5) * weights).sum().backward()
    expected = [
        layer.weight_ih_l0.grad,
        layer.weight_hh_l0.grad,
        layer.bias_ih_l0.grad,
        layer.bias_hh_l0.grad[10:],
    ]
    torch.testing.assert_close(
        [parameter.grad for parameter in cell.parameters()], expected, rtol=0, atol=1e-11
    )


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("keep", KEEPS)
def test_the_fast_scan_equals_the_plain_one(keep: GateConvention, bias: bool) -> None:
    assert_fast_equals_plain(GRU(3, 5, keep=keep, bias=bias))


@pytest.mark.parametrize("keep", KEEPS)
def test_gradients_are_right(keep: GateConvention) -> None:
    assert_gradients_are_right(GRU(2, 3, keep=keep))


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("keep", KEEPS)
def test_without_gradients_the_numbers_stay(keep: GateConvention, reverse: bool, bias: bool) -> None:
    """Where no gradient is wanted torch's own layer scans."""
    cell = with_drawn_weights(GRU(3, 5, keep=keep, bias=bias))
    expected, last, _ = scanned(cell, FULL, reverse=reverse, fast=False)
    packing = Packing.from_lengths(torch.tensor(FULL), time=4)
    with torch.inference_mode():
        found = scan(
            cell,
            packing.pack(drawn(3, 4, 3, seed=1)),
            (drawn(3, 5, seed=2),),
            packing.layout(reverse=reverse),
        )
    torch.testing.assert_close(found, (expected, last), rtol=0, atol=1e-12)


def test_only_the_candidate_has_a_second_bias() -> None:
    def count(cell: nn.Module) -> int:
        return sum(parameter.numel() for parameter in cell.parameters())

    assert count(GRU(10, 20)) == 3 * (10 * 20 + 20 * 20 + 20) + 20 == 1_880
    assert count(GRU(10, 20, bias=False)) == 1_800
    assert count(nn.GRU(10, 20)) == 1_920


def test_all_parameters_start_within_torchs_bounds() -> None:
    torch.manual_seed(0)
    values = torch.cat([parameter.flatten() for parameter in GRU(30, 25).parameters()])
    assert 0.19 < values.abs().max() <= 0.2
    assert abs(values.mean()) < 0.01


def test_a_kernel_called_by_itself_refuses_a_graph_of_its_gradient() -> None:
    """`scan` has second derivatives; the kernel alone would lose them silently."""
    cell = with_drawn_weights(GRU(2, 3))
    rows, layout = drawn(4, 2).requires_grad_(), Packing.from_lengths(torch.tensor([2, 2]), time=2).layout()
    with disable_native():
        found = fast_scan(cell, rows, (drawn(2, 3),), layout)
    assert found is not None
    with pytest.raises(UsageError, match=r"second derivatives(.|\n)*blocks\.scan"):
        torch.autograd.grad(found[0].square().sum(), rows, create_graph=True)


def test_a_word_that_keep_does_not_know_is_refused() -> None:
    with pytest.raises(UsageError, match=r"keep is 'odl'.\n  Use 'old' or 'new'."):
        GRU(2, 3, keep="odl")
