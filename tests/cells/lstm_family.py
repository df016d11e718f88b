"""What the tests of the cells with a memory share."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn

from seqlab.blocks.scan import scan
from seqlab.cells.base import Cell
from seqlab.cells.step_layout import Packing
from tests.cells.fast_and_plain import drawn, with_drawn_weights


def sigmoid(x: float) -> float:
    return torch.sigmoid(torch.tensor(x, dtype=torch.float64)).item()


def num_parameters(module: nn.Module) -> int:
    return sum(parameter.numel() for parameter in module.parameters())


def after_one_step(cell: Cell, x: float, hidden: float, memory: float) -> tuple[float, float]:
    """(hidden, memory) of a cell with one unit after one step."""
    output, state = cell.step(
        cell.project(torch.tensor([[x]])), (torch.tensor([[hidden]]), torch.tensor([[memory]]))
    )
    assert torch.equal(output, state[0])
    return state[0].item(), state[1].item()


def assert_step_and_scan_have_right_gradients(cell: Cell) -> None:
    """By finite differences, with respect to inputs, first state and every parameter."""
    cell = with_drawn_weights(cell)
    names = [name for name, _ in cell.named_parameters()]
    layout = Packing.from_lengths(torch.tensor([3, 1]), time=3).layout()
    state = [drawn(2, size, seed=place).requires_grad_() for place, size in enumerate(cell.state_sizes)]
    weights = [parameter.detach().clone().requires_grad_() for parameter in cell.parameters()]

    def other(weights: tuple[Tensor, ...]) -> Cell:
        return cell.with_weights(dict(zip(names, weights, strict=True)))

    def one_step(inputs: Tensor, hidden: Tensor, memory: Tensor, *weights: Tensor) -> tuple[Tensor, ...]:
        return other(weights)(inputs, (hidden, memory))[1]

    def whole_scan(rows: Tensor, hidden: Tensor, memory: Tensor, *weights: Tensor) -> tuple[Tensor, ...]:
        outputs, last = scan(other(weights), rows, (hidden, memory), layout)
        return outputs, *last

    checks: list[tuple[Callable[..., tuple[Tensor, ...]], int]] = [(one_step, 2), (whole_scan, 4)]
    for function, rows in checks:
        assert torch.autograd.gradcheck(
            function, (drawn(rows, cell.input_size).requires_grad_(), *state, *weights)
        )


def set_gate(cell: Cell, gate: int, value: float) -> None:
    """Hold one gate at σ(value), whatever the input and the state are."""
    rows = slice(gate * cell.hidden_size, (gate + 1) * cell.hidden_size)
    with torch.no_grad():
        cell.input[rows] = 0
        cell.recurrent[rows] = 0
        cell.get_parameter("bias")[rows] = value
