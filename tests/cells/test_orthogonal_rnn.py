"""A recurrent matrix that keeps lengths, whatever the optimizer does to its parameters."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor

from seqlab.blocks.scan import scan
from seqlab.cells.orthogonal_rnn import OrthogonalRNN
from seqlab.cells.rnn import RNN
from seqlab.cells.rotation import matrix_exponential, rotation_matrix
from seqlab.core.errors import UsageError
from tests.cells.cells_to_try import path_of


def train(cell: OrthogonalRNN, steps: int = 50) -> None:
    generator = torch.Generator().manual_seed(1)
    optimizer = torch.optim.Adam(cell.parameters(), lr=0.05)
    _, layout = path_of([8, 8, 8], reverse=False)
    for _ in range(steps):
        rows, targets = (
            torch.randn(24, 3, generator=generator),
            torch.randn(24, cell.hidden_size, generator=generator),
        )
        outputs, _ = scan(cell, rows, (torch.zeros(3, cell.hidden_size),), layout)
        optimizer.zero_grad()
        (outputs - targets).square().mean().backward()
        optimizer.step()


@pytest.mark.spec(71)
@pytest.mark.parametrize("activation", ["modrelu", "tanh", "identity"])
def test_the_matrix_is_still_orthogonal_after_fifty_updates(activation: Any) -> None:
    torch.manual_seed(0)
    cell = OrthogonalRNN(3, 7, activation=activation)
    before = cell.recurrent_matrix().detach()
    train(cell)
    after = cell.recurrent_matrix().detach()
    assert (after - before).abs().max() > 0.1, "the matrix has learned"
    torch.testing.assert_close(after.T @ after, torch.eye(7), rtol=0, atol=1e-6)
    assert torch.linalg.det(after).item() == pytest.approx(1, abs=1e-5)


@pytest.mark.spec(71)
def test_singular_values_stay_within_the_radius_and_use_it() -> None:
    torch.manual_seed(0)
    cell = OrthogonalRNN(3, 7, radius=0.2)
    torch.testing.assert_close(
        torch.linalg.svdvals(cell.recurrent_matrix()), torch.ones(7), rtol=0, atol=1e-6
    )
    train(cell)
    values = torch.linalg.svdvals(cell.recurrent_matrix().detach())
    assert values.min() >= 0.8 - 1e-6
    assert values.max() <= 1.2 + 1e-6
    assert (values - 1).abs().max() > 0.05
    stretched = OrthogonalRNN(3, 4, radius=0.5).double()
    with torch.no_grad():
        stretched.stretch.copy_(torch.tensor([-9.0, -0.3, 0.4, 9.0]))
        expected = 1 + 0.5 * torch.tanh(stretched.stretch)
    torch.testing.assert_close(
        torch.linalg.svdvals(stretched.recurrent_matrix()), expected.flip(0), rtol=0, atol=1e-12
    )


@pytest.mark.spec(71)
def test_the_matrix_is_a_rotation_a_stretch_and_a_rotation() -> None:
    torch.manual_seed(3)
    cell = OrthogonalRNN(2, 3, radius=0.4).double()
    left, right, stretch = torch.randn(3, 3, dtype=torch.float64)
    cell.load_state_dict({**cell.state_dict(), "rotation": left, "turn": right, "stretch": stretch})

    def turned(entries: Tensor) -> Tensor:
        a, b, c = entries.tolist()
        return torch.linalg.matrix_exp(
            torch.tensor([[0, a, b], [-a, 0, c], [-b, -c, 0]], dtype=torch.float64)
        )

    expected = turned(left) @ torch.diag(1 + 0.4 * torch.tanh(stretch)) @ turned(right).T
    torch.testing.assert_close(cell.recurrent_matrix().detach(), expected, rtol=0, atol=1e-12)


def gradient_of_the_first_state(cell: OrthogonalRNN | RNN, time: int) -> float:
    """The length of the gradient that the last state sends back to the initial one."""
    _, layout = path_of([time], reverse=False)
    hidden = torch.zeros(1, cell.hidden_size, requires_grad=True)
    _, (last,) = scan(
        cell, torch.randn(time, 3, generator=torch.Generator().manual_seed(2)), (hidden,), layout
    )
    (gradient,) = torch.autograd.grad(last[0, 0], hidden)
    return gradient.norm().item()


@pytest.mark.spec(71)
def test_gradients_keep_their_length_over_hundreds_of_steps() -> None:
    torch.manual_seed(0)
    cell = OrthogonalRNN(3, 16, activation="identity")
    for time in (1, 100, 400):
        assert gradient_of_the_first_state(cell, time) == pytest.approx(1, abs=1e-4)
    plain = RNN(3, 16, activation="identity")
    assert gradient_of_the_first_state(plain, 100) < 1e-3 * gradient_of_the_first_state(plain, 1)


def test_one_step_follows_the_equation() -> None:
    """Two units turn by one angle; modReLU with one shift that closes a unit and one that opens it
    further.
    """
    cell = OrthogonalRNN(1, 2)
    angle = torch.tensor(0.6)
    cell.load_state_dict(
        {
            "input": torch.tensor([[0.1], [-0.3]]),
            "bias": torch.tensor([0.2, -0.1]),
            "rotation": angle.view(1),
            "shift": torch.tensor([-0.4, 0.25]),
        }
    )
    x, first, second = 2.0, -1.0, 0.5
    cosine, sine = angle.cos().item(), angle.sin().item()
    a = 0.1 * x + 0.2 + cosine * first + sine * second
    b = -0.3 * x - 0.1 - sine * first + cosine * second
    expected = [(1 if s > 0 else -1) * max(abs(s) + shift, 0) for s, shift in ((a, -0.4), (b, 0.25))]
    assert expected[0] == 0
    assert expected[1] != 0
    given = torch.tensor([[x]]), (torch.tensor([[first, second]]),)
    assert cell(*given)[0][0].tolist() == pytest.approx(expected, abs=1e-6)
    assert cell.materialize_weights()(*given)[0][0].tolist() == pytest.approx(expected, abs=1e-6)


def test_the_matrix_is_computed_once_per_scan(monkeypatch: pytest.MonkeyPatch) -> None:
    cell = OrthogonalRNN(3, 4)
    calls: list[int] = []
    matrix = OrthogonalRNN.recurrent_matrix

    def counted(self: OrthogonalRNN) -> Tensor:
        calls.append(1)
        return matrix(self)

    monkeypatch.setattr(OrthogonalRNN, "recurrent_matrix", counted)
    _, layout = path_of([5, 5], reverse=False)
    for fast in (True, False):
        calls.clear()
        scan(cell, torch.randn(10, 3), (torch.zeros(2, 4),), layout, fast=fast)
        assert len(calls) == 1
    assert "recurrent" not in cell.state_dict()


@pytest.mark.parametrize("size", [1, 2, 5, 8])
def test_a_new_matrix_turns_pairs_of_units(size: int) -> None:
    matrix = OrthogonalRNN(3, size).double().recurrent_matrix().detach()
    torch.testing.assert_close(matrix @ matrix.T, torch.eye(size).double(), rtol=0, atol=1e-12)
    for first in range(0, size - 1, 2):
        (a, b), (c, d) = matrix[first : first + 2, first : first + 2].tolist()
        assert a == pytest.approx(d)
        assert b == pytest.approx(-c)
        assert a * a + b * b == pytest.approx(1)


@pytest.mark.parametrize("scale", [0.0, 0.01, 1.0, 30.0])
def test_the_exponential_is_torchs(scale: float) -> None:
    torch.manual_seed(1)
    matrix = torch.randn(6, 6, dtype=torch.float64) * scale
    skew = (matrix - matrix.T).requires_grad_()
    weights = torch.randn(6, 6, dtype=torch.float64)
    found, expected = matrix_exponential(skew), torch.linalg.matrix_exp(skew)
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-12)
    gradients = [torch.autograd.grad((matrix * weights).sum(), skew)[0] for matrix in (found, expected)]
    torch.testing.assert_close(*gradients, rtol=0, atol=1e-10)


def test_numbers_that_are_not_finite_stay_visible() -> None:
    angles = torch.tensor([1.0, float("inf"), 0.5])
    assert rotation_matrix(angles, 3).isnan().all()


def test_the_gradient_of_the_parameters_is_the_numerical_one() -> None:
    cell = OrthogonalRNN(2, 4, radius=0.3).double()
    names = [name for name, _ in cell.named_parameters()]

    def matrix(*weights: Tensor) -> Tensor:
        return cell.with_weights(dict(zip(names, weights, strict=True))).recurrent_matrix()

    torch.manual_seed(5)
    assert torch.autograd.gradcheck(
        matrix, [torch.randn_like(parameter).requires_grad_() for parameter in cell.parameters()]
    )


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"activation": "modrely"}, "Did you mean 'modrelu'?"),
        ({"radius": -0.1}, "radius is -0.1"),
        ({"radius": 1.0}, "at least 0 \\(orthogonal\\) and below 1"),
    ],
)
def test_options_that_cannot_be_are_refused(options: dict[str, Any], words: str) -> None:
    with pytest.raises(UsageError, match=words.replace("?", "\\?")):
        OrthogonalRNN(2, 3, **options)
