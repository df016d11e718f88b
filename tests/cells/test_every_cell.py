"""What every cell promises: kernels only compute faster, and sequences do not see each other."""

from __future__ import annotations

import inspect
from typing import Any

import pytest
import torch
from torch import Tensor

from seqlab.blocks.scan import scan
from seqlab.cells.base import Cell, GatedCell, State, cells
from seqlab.cells.kernel_choice import fast_scan
from seqlab.cells.lstm import LSTM
from seqlab.cells.settings import CELL_KINDS
from seqlab.cells.step_layout import Packing
from tests.cells.cells_to_try import (
    CASE_NAMES,
    CASES,
    HIDDEN,
    INPUT,
    LENGTHS,
    OPTIONS,
    alone,
    build,
    path_of,
    ragged,
)

pytestmark = pytest.mark.slow  # a sweep over every variant: short each, long together

Options = dict[str, Any]
every_cell = pytest.mark.parametrize(("name", "options"), CASES, ids=CASE_NAMES)
GATED = {
    name: case
    for name, case in zip(CASE_NAMES, CASES, strict=True)
    if issubclass(cells.get(case[0]), GatedCell)
}
every_gated_cell = pytest.mark.parametrize(("name", "options"), GATED.values(), ids=GATED)
both_ways = pytest.mark.parametrize("reverse", [False, True], ids=["forward", "backward"])


def run(
    cell: Cell,
    steps: Tensor,
    state: State,
    *,
    reverse: bool = False,
    fast: bool = True,
    lengths: list[int] = LENGTHS,
) -> tuple[Tensor, State]:
    """A padded batch through the scan and back: outputs (batch, time, hidden), last states in the order of
    the batch.
    """
    packing, layout = path_of(lengths, reverse=reverse)
    rows, last = scan(cell, packing.pack(steps), packing.sort(state), layout, fast=fast)
    return packing.unpack(rows), tuple(packing.unsort(part) for part in last)


def gradients(cell: Cell, steps: Tensor, state: State, outputs: Tensor, last: State) -> list[Tensor]:
    """Of inputs, initial state and every parameter, for a loss in which every output and every final state
    counts differently.
    """
    generator = torch.Generator().manual_seed(5)
    loss = sum(
        (
            (part * torch.randn(part.shape, generator=generator, dtype=part.dtype)).sum()
            for part in (outputs, *last)
        ),
        start=torch.zeros(()),
    )
    return list(torch.autograd.grad(loss, [steps, *state, *cell.parameters()]))


def test_every_registered_cell_is_examined_here() -> None:
    missing = set(cells.names()) - set(OPTIONS)
    assert not missing, f"tests/cells/cells_to_try.py has no line for {sorted(missing)}"
    assert set(cells.names()) <= set(CELL_KINDS), "cells/settings.py has no settings for a registered cell"


@pytest.mark.parametrize("name", cells.names())
def test_the_first_line_of_every_cell_says_what_it_is(name: str) -> None:
    assert cells.summary(name).endswith(".")
    first = (inspect.getdoc(cells.get(name)) or "").partition("\n")[0]
    assert "." in first, f"{name} has no first sentence"


@pytest.mark.parametrize("name", cells.names())
def test_the_settings_of_a_cell_are_the_options_of_its_constructor(name: str) -> None:
    parameters = inspect.signature(cells.get(name).__init__).parameters.values()
    options = {p.name: p.default for p in parameters if p.kind is inspect.Parameter.KEYWORD_ONLY}
    fields = {field: info.default for field, info in CELL_KINDS[name].model_fields.items() if field != "kind"}
    required = {field for field, default in options.items() if default is inspect.Parameter.empty}
    assert options.keys() == fields.keys()
    assert {field: default for field, default in options.items() if field not in required} == {
        field: default for field, default in fields.items() if field not in required
    }
    assert CELL_KINDS[name].model_fields["kind"].default == name


@both_ways
@pytest.mark.parametrize("fast", [True, False], ids=["fast", "plain"])
@every_cell
def test_a_scan_over_a_ragged_batch_is_each_sequence_alone_step_by_step(
    name: str, options: Options, fast: bool, reverse: bool
) -> None:
    cell = build(name, options)
    steps, state = ragged(cell)
    for part in (steps, *state):
        part.requires_grad_()
    outputs, last = run(cell, steps, state, reverse=reverse, fast=fast)
    found = gradients(cell, steps, state, outputs, last)

    expected_outputs, expected_last = torch.zeros_like(outputs), []
    for row, length in enumerate(LENGTHS):
        own, ended = alone(
            cell, steps[row, :length], tuple(part[row : row + 1] for part in state), reverse=reverse
        )
        expected_outputs = expected_outputs.index_put((torch.tensor(row), torch.arange(length)), own)
        expected_last.append(ended)
    together = tuple(torch.cat(parts) for parts in zip(*expected_last, strict=True))
    torch.testing.assert_close(outputs, expected_outputs, rtol=0, atol=1e-12)
    torch.testing.assert_close(last, together, rtol=0, atol=1e-12)
    torch.testing.assert_close(
        found, gradients(cell, steps, state, expected_outputs, together), rtol=0, atol=1e-10
    )


@both_ways
@every_cell
def test_full_batches_in_single_precision_give_what_double_precision_gives(
    name: str, options: Options, reverse: bool
) -> None:
    """Where a cell hands whole batches to torch's fused layers, this is that path."""
    lengths = [6, 6, 6]
    found: list[list[Tensor]] = []
    for dtype, fast in ((torch.float32, True), (torch.float64, False)):
        cell = build(name, options).to(dtype)
        steps, state = ragged(cell, lengths)
        steps, state = (
            steps.to(dtype).requires_grad_(),
            tuple(part.to(dtype).requires_grad_() for part in state),
        )
        outputs, last = run(cell, steps, state, reverse=reverse, fast=fast, lengths=lengths)
        with torch.no_grad():  # may be another path
            torch.testing.assert_close(
                run(cell, steps, state, reverse=reverse, fast=fast, lengths=lengths),
                (outputs, last),
                rtol=1e-5,
                atol=1e-5,
            )
        loss = outputs.square().sum() + sum((part * part).sum() for part in last)
        found.append(
            [
                part.double()
                for part in (outputs, *last, *torch.autograd.grad(loss, [steps, *state, *cell.parameters()]))
            ]
        )
    torch.testing.assert_close(*found, rtol=1e-4, atol=1e-4)


@every_cell
def test_gradients_are_right(name: str, options: Options) -> None:
    cell = build(name, options)
    steps, state = ragged(cell, [2, 3])
    names = [key for key, _ in cell.named_parameters(recurse=False)]

    def outputs_of(x: Tensor, *others: Tensor) -> tuple[Tensor, ...]:
        given, weights = others[: len(state)], others[len(state) :]
        outputs, last = run(
            cell.with_weights(dict(zip(names, weights, strict=True))), x, given, lengths=[2, 3]
        )
        return (outputs, *last)

    inputs = [
        steps.masked_fill(steps == 1e3, 0.5),
        *state,
        *(cell.get_parameter(key).detach() for key in names),
    ]
    assert torch.autograd.gradcheck(
        outputs_of, [part.clone().requires_grad_() for part in inputs], fast_mode=True
    )


@every_cell
def test_gradients_reach_every_parameter(name: str, options: Options) -> None:
    cell = build(name, options)
    steps, state = ragged(cell)
    outputs, _ = run(cell, steps, state)
    (outputs * torch.randn_like(outputs)).sum().backward()
    for key, parameter in cell.named_parameters():
        assert parameter.grad is not None, f"{key} has no gradient"
        assert (parameter.grad != 0).any(), f"the gradient of {key} is zero"


@every_cell
def test_weights_that_are_frozen_cost_no_gradient_and_change_none(name: str, options: Options) -> None:
    cell = build(name, options)
    steps, state = ragged(cell)
    steps.requires_grad_()
    (expected,) = torch.autograd.grad(run(cell, steps, state)[0].square().sum(), steps)
    cell.requires_grad_(False)
    (found,) = torch.autograd.grad(run(cell, steps, state)[0].square().sum(), steps)
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-12)
    steps.requires_grad_(False)
    assert not run(cell, steps, state)[0].requires_grad


@pytest.mark.parametrize("lengths", [LENGTHS, [4, 4]], ids=["ragged", "full"])
@every_cell
def test_second_derivatives_of_a_fast_scan_are_those_of_the_plain_one(
    name: str, options: Options, lengths: list[int]
) -> None:
    cell = build(name, options)
    steps, state = ragged(cell, lengths)
    steps.requires_grad_()

    def second(*, fast: bool) -> tuple[Tensor, ...]:
        outputs, last = run(cell, steps, state, fast=fast, lengths=lengths)
        loss = outputs.square().sum() + last[-1].pow(3).sum()
        first = torch.autograd.grad(loss, [steps, *cell.parameters()], create_graph=True)
        total = torch.stack([part.square().sum() for part in first]).sum()
        return torch.autograd.grad(total, [steps, *cell.parameters()])

    torch.testing.assert_close(second(fast=True), second(fast=False), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("lengths", [LENGTHS, [4, 4]], ids=["ragged", "full"])
@every_cell
def test_gradients_of_a_fast_scan_are_mapped_over(name: str, options: Options, lengths: list[int]) -> None:
    cell = build(name, options)
    steps, state = ragged(cell, lengths)
    steps.requires_grad_()
    outputs, _ = run(cell, steps, state, lengths=lengths)
    weightings = torch.stack([torch.ones_like(outputs), outputs.detach()])
    found = torch.autograd.grad(outputs, steps, weightings, is_grads_batched=True, retain_graph=True)[0]
    expected = [torch.autograd.grad(outputs, steps, each, retain_graph=True)[0] for each in weightings]
    torch.testing.assert_close(found, torch.stack(expected), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize(
    ("lengths", "reverse"), [(LENGTHS, False), ([5, 5, 5, 5], True)], ids=["ragged", "full backward"]
)
@every_cell
def test_a_sequence_of_nan_leaves_its_neighbours_alone(
    name: str, options: Options, lengths: list[int], reverse: bool
) -> None:
    cell = build(name, options)
    steps, state = ragged(cell, lengths)
    ill = steps.clone()
    ill[1] = float("nan")
    healthy = [0, 2, 3]
    reached = []
    for given in (steps, ill):
        given.requires_grad_()
        outputs, last = run(cell, given, state, reverse=reverse, lengths=lengths)
        (gradient,) = torch.autograd.grad(
            outputs.square().sum() + sum(part.square().sum() for part in last), given
        )
        reached.append([part[healthy] for part in (outputs, *last, gradient)])
    torch.testing.assert_close(*reached, rtol=0, atol=1e-12)


@every_gated_cell
def test_a_gated_cell_mixes_what_it_kept_with_its_candidate(name: str, options: Options) -> None:
    cell = build(name, options)
    assert isinstance(cell, GatedCell)
    steps, state = ragged(cell, [1, 1, 1])
    projected = cell.project(steps[:, 0])
    gates = cell.gates(projected, state)
    keep, write = cell.mixing_coefficients(gates)
    _, after = cell.step(projected, state)
    torch.testing.assert_close(after[-1], keep * state[-1] + write * gates["candidate"], rtol=0, atol=1e-12)


@every_cell
def test_saved_weights_bring_the_cell_back(name: str, options: Options) -> None:
    cell, other = build(name, options), cells.get(name)(INPUT, HIDDEN, **options).double()
    other.load_state_dict(cell.state_dict())
    steps, state = ragged(cell)
    torch.testing.assert_close(run(other, steps, state), run(cell, steps, state), rtol=0, atol=0)


@every_cell
def test_a_cell_without_a_given_state_starts_from_zeros(name: str, options: Options) -> None:
    cell = build(name, options)
    steps, state = ragged(cell, [1, 1])
    found, _ = cell(steps[:, 0])
    expected, _ = cell(steps[:, 0], tuple(torch.zeros_like(part) for part in state))
    assert torch.equal(found, expected)
    assert found.shape == (2, cell.output_size)


def test_a_subclass_with_other_equations_is_never_scanned_by_the_kernel_of_its_base() -> None:
    class Halved(LSTM):
        def project(self, steps: Tensor) -> Tensor:
            return super().project(steps) / 2

    layout = Packing.from_lengths(torch.tensor([3]), time=3).layout()
    rows, state = torch.randn(3, 2), (torch.zeros(1, 4), torch.zeros(1, 4))
    assert fast_scan(Halved(2, 4), rows, state, layout) is None
    assert fast_scan(LSTM(2, 4), rows, state, layout) is not None
