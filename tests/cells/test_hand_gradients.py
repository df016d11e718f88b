"""The gradients that the book writes out, against autograd."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from seqlab.cells.derivations.hand_gradients import closed_form_hidden_gradients, hand_gradients
from seqlab.cells.rnn import RNN

BATCH, TIME, IN, HIDDEN, OUT = 3, 6, 4, 5, 2
both_precisions = pytest.mark.parametrize(
    ("dtype", "tolerance"), [(torch.float32, 1e-6), (torch.float64, 1e-14)], ids=["float32", "float64"]
)


def by_autograd(dtype: torch.dtype) -> dict[str, Tensor]:
    """The linear network as the cell scans it, a squared loss, and every gradient from autograd."""
    torch.manual_seed(7)
    cell = RNN(IN, HIDDEN, activation="identity", bias=False).to(dtype)
    read = (torch.randn(OUT, HIDDEN, dtype=dtype) * 0.5).requires_grad_()
    inputs, targets = torch.randn(BATCH, TIME, IN, dtype=dtype), torch.randn(BATCH, TIME, OUT, dtype=dtype)
    state, states, outputs = torch.randn(BATCH, HIDDEN, dtype=dtype), [], []
    initial = state
    for x in inputs.unbind(1):
        state, _ = cell(x, (state,))
        state.retain_grad()
        outputs.append(state @ read.T)
        outputs[-1].retain_grad()
        states.append(state)
    loss = sum(
        ((y - target).square().sum() for y, target in zip(outputs, targets.unbind(1), strict=True)),
        start=torch.zeros((), dtype=dtype),
    )
    (loss / (BATCH * TIME)).backward()
    found = {
        "inputs": inputs,
        "initial": initial,
        "targets": targets,
        "W_hx": cell.input,
        "W_hh": cell.recurrent,
        "W_qh": read,
    }
    gradients = {"d_output": [y.grad for y in outputs], "d_hidden": [h.grad for h in states]}
    stacked = {
        name: torch.stack([part for part in parts if part is not None], dim=1)
        for name, parts in gradients.items()
    }
    return {name: value.detach() for name, value in found.items()} | stacked | {
        f"d_{name}": parameter.grad for name, parameter in found.items() if parameter.grad is not None
    }  # fmt: skip


def outputs_of(case: dict[str, Tensor]) -> Tensor:
    """o_t of every step, by the equations: (batch, time, output)."""
    state, outputs = case["initial"], []
    for x in case["inputs"].unbind(1):
        state = x @ case["W_hx"].T + state @ case["W_hh"].T
        outputs.append(state @ case["W_qh"].T)
    return torch.stack(outputs, dim=1)


@pytest.mark.spec(56, 84)
@both_precisions
def test_the_hand_gradients_are_those_of_autograd(dtype: torch.dtype, tolerance: float) -> None:
    """∂L/∂o_t of a squared loss is 2 (o_t - target_t) / (batch · time), written out too."""
    case = by_autograd(dtype)
    d_output = 2 * (outputs_of(case) - case["targets"]) / (BATCH * TIME)
    found = hand_gradients(
        case["inputs"], d_output, case["W_hx"], case["W_hh"], case["W_qh"], initial=case["initial"]
    )
    for name, gradient in {
        "output": found.output,
        "hidden": found.hidden,
        "W_hx": found.W_hx,
        "W_hh": found.W_hh,
        "W_qh": found.W_qh,
    }.items():
        torch.testing.assert_close(gradient, case[f"d_{name}"], rtol=0, atol=tolerance, msg=name)


@pytest.mark.spec(84)
def test_the_last_state_acts_through_its_own_output_only() -> None:
    case = by_autograd(torch.float64)
    found = hand_gradients(
        case["inputs"], case["d_output"], case["W_hx"], case["W_hh"], case["W_qh"], initial=case["initial"]
    )
    torch.testing.assert_close(
        found.hidden[:, -1], case["d_output"][:, -1] @ case["W_qh"], rtol=0, atol=1e-15
    )


@pytest.mark.spec(84)
def test_sums_over_time_that_do_not_start_at_the_first_step_are_wrong() -> None:
    """What the lecture's range would give for t = 2: the part of the first step is missing."""
    case = by_autograd(torch.float64)
    found = hand_gradients(
        case["inputs"], case["d_output"], case["W_hx"], case["W_hh"], case["W_qh"], initial=case["initial"]
    )
    first = found.hidden[:, 0].T @ case["inputs"][:, 0]
    printed = sum(found.hidden[:, t].T @ case["inputs"][:, t] for t in range(1, TIME))
    torch.testing.assert_close(printed + first, case["d_W_hx"], rtol=0, atol=1e-14)
    assert (printed - case["d_W_hx"]).abs().max() > 1e-3


@pytest.mark.spec(85)
@both_precisions
def test_the_closed_form_of_the_states_gradients_is_that_of_autograd(
    dtype: torch.dtype, tolerance: float
) -> None:
    case = by_autograd(dtype)
    found = closed_form_hidden_gradients(case["d_output"], case["W_hh"], case["W_qh"])
    torch.testing.assert_close(found, case["d_hidden"], rtol=0, atol=tolerance)


def test_without_an_initial_state_the_first_step_adds_nothing_to_the_recurrent_matrix() -> None:
    case = by_autograd(torch.float64)
    short = case["inputs"][:, :1], case["d_output"][:, :1], case["W_hx"], case["W_hh"], case["W_qh"]
    assert not hand_gradients(*short).W_hh.any()
    assert hand_gradients(*short, initial=case["initial"]).W_hh.any()
