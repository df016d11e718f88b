"""The additive update against plain arithmetic, for named and for given candidates, in both conventions."""

from __future__ import annotations

from math import exp, tanh
from typing import Any

import pytest
import torch
from torch import nn

from seqlab.cells.additive import Additive, flip_convention
from seqlab.core.errors import UsageError


def sigmoid(x: float) -> float:
    return 1 / (1 + exp(-x))


@pytest.mark.spec(69)
@pytest.mark.parametrize("keep", ["old", "new"])
@pytest.mark.parametrize("candidate", ["recurrent", "input", "linear"])
def test_one_step_follows_the_equations(candidate: str, keep: Any) -> None:
    cell = Additive(1, 1, candidate=candidate, keep=keep)
    recurrent = [[0.2], [-0.4]] if candidate == "recurrent" else [[0.2]]
    cell.load_state_dict(
        {
            "input": torch.tensor([[0.1], [0.3]]),
            "recurrent": torch.tensor(recurrent),
            "bias": torch.tensor([0.7, -0.8]),
        }
    )
    x, hidden = 2.0, -1.0
    gate = sigmoid(0.1 * x + 0.2 * hidden + 0.7)
    new = {
        "recurrent": tanh(0.3 * x - 0.4 * hidden - 0.8),
        "input": tanh(0.3 * x - 0.8),
        "linear": 0.3 * x - 0.8,
    }[candidate]
    expected = gate * hidden + (1 - gate) * new if keep == "old" else (1 - gate) * hidden + gate * new
    output, (state,) = cell(torch.tensor([[x]]), (torch.tensor([[hidden]]),))
    assert output.item() == pytest.approx(expected)
    assert torch.equal(output, state)


@pytest.mark.spec(69)
@pytest.mark.parametrize("keep", ["old", "new"])
@pytest.mark.parametrize("candidate", ["recurrent", "input", "linear", torch.minimum])
def test_the_convention_flips_by_negating_the_gates_weights(candidate: Any, keep: Any) -> None:
    torch.manual_seed(1)
    cell = Additive(3, 5, candidate=candidate, keep=keep).double()
    other = flip_convention(cell)
    assert other.keep != cell.keep
    assert torch.equal(other.input[:5], -cell.input[:5])
    assert torch.equal(other.input[5:], cell.input[5:])
    x, state = torch.randn(4, 3, dtype=torch.float64), (torch.randn(4, 5, dtype=torch.float64),)
    torch.testing.assert_close(other(x, state), cell(x, state), rtol=0, atol=1e-14)
    theirs, own = other.gates(other.project(x), state), cell.gates(cell.project(x), state)
    torch.testing.assert_close(theirs["gate"], 1 - own["gate"], rtol=0, atol=1e-14)
    torch.testing.assert_close(
        other.mixing_coefficients(theirs), cell.mixing_coefficients(own), rtol=0, atol=1e-14
    )
    again = flip_convention(other)
    assert all(torch.equal(a, b) for a, b in zip(again.parameters(), cell.parameters(), strict=True))


@pytest.mark.spec(69)
def test_any_function_of_the_projected_input_and_the_state_may_be_the_candidate() -> None:
    torch.manual_seed(2)
    cell = Additive(3, 4, candidate=lambda projected, hidden: torch.sin(projected) * hidden)
    x, hidden = torch.randn(2, 3), torch.randn(2, 4)
    gate = torch.sigmoid(x @ cell.input[:4].T + hidden @ cell.recurrent.T + cell.bias[:4])
    candidate = torch.sin(x @ cell.input[4:].T + cell.bias[4:]) * hidden
    torch.testing.assert_close(cell(x, (hidden,))[0], gate * hidden + (1 - gate) * candidate)


def test_a_candidate_that_is_a_module_is_trained_with_the_cell() -> None:
    class Deep(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.inner = nn.Linear(8, 4)

        def forward(self, projected: torch.Tensor, hidden: torch.Tensor) -> torch.Tensor:
            return self.inner(torch.cat([projected, hidden], dim=-1)).tanh()

    cell = Additive(3, 4, candidate=Deep())
    assert "candidate.inner.weight" in cell.state_dict()
    cell(torch.randn(2, 3), (torch.randn(2, 4),))[0].sum().backward()
    assert all(parameter.grad is not None and parameter.grad.any() for parameter in cell.parameters())


def test_only_gates_that_see_the_state_have_a_recurrent_matrix() -> None:
    assert Additive(3, 4).recurrent.shape == (8, 4)
    assert Additive(3, 4, candidate="input").recurrent.shape == (4, 4)


def test_an_unknown_candidate_is_refused() -> None:
    with pytest.raises(UsageError, match="there is no candidate called 'linaer'") as error:
        Additive(3, 4, candidate="linaer")
    assert "Did you mean 'linear'?" in str(error.value)


def test_an_unknown_convention_is_refused() -> None:
    wrong: Any = "both"
    with pytest.raises(UsageError, match="keep is 'both'"):
        Additive(3, 4, keep=wrong)
