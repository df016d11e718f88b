"""minGRU against plain arithmetic, and its fast scan against its steps."""

from __future__ import annotations

from math import exp

import pytest
import torch
from torch import Tensor

from seqlab.cells.kernel_choice import fast_scan
from seqlab.cells.min_gru import MinGRU
from tests.cells.cells_to_try import path_of


def test_one_step_follows_the_equations() -> None:
    cell = MinGRU(1, 1)
    cell.load_state_dict({"input": torch.tensor([[0.4], [-0.3]]), "bias": torch.tensor([0.7, -0.8])})
    x, hidden = 2.0, -1.5
    write = 1 / (1 + exp(-(0.4 * x + 0.7)))
    expected = (1 - write) * hidden + write * (-0.3 * x - 0.8)
    output, (state,) = cell(torch.tensor([[x]]), (torch.tensor([[hidden]]),))
    assert output.item() == pytest.approx(expected)
    assert torch.equal(output, state)


def test_there_is_no_recurrent_matrix() -> None:
    cell = MinGRU(3, 5)
    assert {name: tuple(parameter.shape) for name, parameter in cell.named_parameters()} == {
        "input": (10, 3),
        "bias": (10,),
    }
    assert "recurrent" not in cell.state_dict()


@pytest.mark.parametrize("reverse", [False, True], ids=["forward", "backward"])
@pytest.mark.parametrize("lengths", [[3, 1, 2, 3], [3, 3], [1], [2, 4, 4, 1, 1]], ids=str)
def test_the_hand_written_gradient_is_the_numerical_one(lengths: list[int], reverse: bool) -> None:
    torch.manual_seed(3)
    cell = MinGRU(2, 3).double()
    _, layout = path_of(lengths, reverse=reverse)

    def scanned(rows: Tensor, hidden: Tensor, *weights: Tensor) -> tuple[Tensor, Tensor]:
        found = fast_scan(
            cell.with_weights(dict(zip(("input", "bias"), weights, strict=True))), rows, (hidden,), layout
        )
        assert found is not None
        return found[0], found[1][0]

    inputs = [
        torch.randn(sum(lengths), 2).double(),
        torch.randn(len(lengths), 3).double(),
        *(p.detach().clone() for p in cell.parameters()),
    ]
    assert torch.autograd.gradcheck(scanned, [part.requires_grad_() for part in inputs])


def test_a_long_scan_is_exact_where_a_sum_of_logarithms_would_not_be() -> None:
    """Over 2,000 steps with gates near 0 and 1: the state in single precision stays within rounding of the
    one in double precision.
    """
    torch.manual_seed(4)
    cell = MinGRU(2, 3)
    rows = torch.randn(2000, 2) * 8
    _, layout = path_of([2000], reverse=False)
    found = fast_scan(cell, rows, (torch.zeros(1, 3),), layout)
    expected = fast_scan(cell.double(), rows.double(), (torch.zeros(1, 3).double(),), layout)
    assert found is not None
    assert expected is not None
    torch.testing.assert_close(found[0].double(), expected[0], rtol=0, atol=5e-6)
