"""The plain cell against plain arithmetic and against torch's own layers."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor, nn

from seqlab.cells.kernel_choice import fast_scan
from seqlab.cells.rnn import RNN
from seqlab.cells.step_layout import Packing
from seqlab.core.errors import UsageError
from tests.cells.cells_to_try import path_of


@pytest.mark.spec(55, 72)
@pytest.mark.parametrize(
    ("activation", "function"),
    [
        ("tanh", math.tanh),
        ("relu", lambda x: max(x, 0.0)),
        ("sigmoid", lambda x: 1 / (1 + math.exp(-x))),
        ("identity", float),
    ],
)
@pytest.mark.parametrize("x", [2.0, -3.0])
def test_one_step_follows_the_equation(activation: str, function: object, x: float) -> None:
    cell = RNN(1, 2, activation=activation)
    cell.load_state_dict(
        {
            "input": torch.tensor([[0.1], [-0.3]]),
            "recurrent": torch.tensor([[0.2, 0.5], [-0.4, 0.6]]),
            "bias": torch.tensor([0.7, -0.8]),
        }
    )
    first, second = -1.0, 0.25
    assert callable(function)
    expected = [
        function(0.1 * x + 0.2 * first + 0.5 * second + 0.7),
        function(-0.3 * x - 0.4 * first + 0.6 * second - 0.8),
    ]
    output, (state,) = cell(torch.tensor([[x]]), (torch.tensor([[first, second]]),))
    assert output[0].tolist() == pytest.approx(expected)
    assert torch.equal(output, state)


def torch_layer(cell: RNN, nonlinearity: str, *, bias: bool) -> nn.RNN:
    layer = nn.RNN(
        cell.input_size, cell.hidden_size, nonlinearity=nonlinearity, bias=bias, batch_first=True
    ).double()
    with torch.no_grad():
        layer.get_parameter("weight_ih_l0").copy_(cell.input)
        layer.get_parameter("weight_hh_l0").copy_(cell.recurrent)
        if cell.bias is not None:
            layer.get_parameter("bias_ih_l0").copy_(cell.bias)
            layer.get_parameter("bias_hh_l0").zero_()
    return layer


@pytest.mark.parametrize("reverse", [False, True], ids=["forward", "backward"])
@pytest.mark.parametrize("bias", [True, False], ids=["bias", "no bias"])
@pytest.mark.parametrize("nonlinearity", ["tanh", "relu"])
def test_outputs_states_and_gradients_are_those_of_torchs_layer(
    nonlinearity: str, bias: bool, reverse: bool
) -> None:
    torch.manual_seed(1)
    cell = RNN(3, 5, activation=nonlinearity, bias=bias).double()
    layer = torch_layer(cell, nonlinearity, bias=bias)
    lengths = [4, 7, 2]
    steps = torch.randn(3, 7, 3, dtype=torch.float64, requires_grad=True)
    initial = torch.randn(3, 5, dtype=torch.float64, requires_grad=True)
    packing, layout = path_of(lengths, reverse=reverse)
    scanned = fast_scan(cell, packing.pack(steps), packing.sort((initial,)), layout)
    assert scanned is not None
    outputs, last = packing.unpack(scanned[0]), packing.unsort(scanned[1][0])
    weights = torch.randn_like(outputs)
    found = torch.autograd.grad(
        (outputs * weights).sum() + last.square().sum(), [steps, initial, *cell.parameters()]
    )

    total = torch.zeros((), dtype=torch.float64)
    for row, length in enumerate(lengths):
        own = steps[row : row + 1, :length]
        expected, expected_last = layer(own.flip(1) if reverse else own, initial[row].view(1, 1, 5))
        expected = expected.flip(1) if reverse else expected
        torch.testing.assert_close(outputs[row, :length], expected[0], rtol=0, atol=1e-12)
        torch.testing.assert_close(last[row], expected_last[0, 0], rtol=0, atol=1e-12)
        total = total + (expected[0] * weights[row, :length]).sum() + expected_last.square().sum()
    parameters = list(layer.parameters())[: 3 if bias else 2]
    torch.testing.assert_close(
        found, torch.autograd.grad(total, [steps, initial, *parameters]), rtol=0, atol=1e-11
    )


@pytest.mark.parametrize("reverse", [False, True], ids=["forward", "backward"])
@pytest.mark.parametrize("activation", ["tanh", "sigmoid", "identity"])
def test_the_hand_written_gradient_is_the_numerical_one(activation: str, reverse: bool) -> None:
    torch.manual_seed(2)
    cell = RNN(2, 3, activation=activation).double()
    _, layout = path_of([3, 1, 2], reverse=reverse)

    def scanned(rows: Tensor, hidden: Tensor, *weights: Tensor) -> tuple[Tensor, Tensor]:
        found = fast_scan(
            cell.with_weights(dict(zip(("input", "recurrent", "bias"), weights, strict=True))),
            rows,
            (hidden,),
            layout,
        )
        assert found is not None
        return found[0], found[1][0]

    inputs = [
        torch.randn(6, 2).double(),
        torch.randn(3, 3).double(),
        *(parameter.detach().clone() for parameter in cell.parameters()),
    ]
    assert torch.autograd.gradcheck(scanned, [part.requires_grad_() for part in inputs])


def test_any_function_may_bend_the_sum_and_a_module_brings_its_parameters() -> None:
    layout = Packing.from_lengths(torch.tensor([2]), time=2).layout()
    by_function = RNN(2, 3, activation=torch.tanh)
    by_name = RNN(2, 3)
    by_name.load_state_dict(by_function.state_dict())
    x, hidden = torch.randn(4, 2), (torch.randn(4, 3),)
    assert torch.equal(by_function(x, hidden)[0], by_name(x, hidden)[0])
    assert fast_scan(by_function, x[:2], (hidden[0][:1],), layout) is None
    assert fast_scan(by_name, x[:2], (hidden[0][:1],), layout) is not None
    with_slope = RNN(2, 3, activation=nn.PReLU(init=0.5))
    assert "activation.weight" in with_slope.state_dict()
    sums = with_slope.project(x) + hidden[0] @ with_slope.recurrent.T
    torch.testing.assert_close(with_slope(x, hidden)[0], torch.where(sums > 0, sums, 0.5 * sums))


@pytest.mark.spec(56)
def test_the_linear_network_is_a_sum_of_powers_of_its_matrix() -> None:
    torch.manual_seed(3)
    cell = RNN(2, 3, activation="identity", bias=False).double()
    steps = torch.randn(1, 4, 2, dtype=torch.float64)
    state = (torch.zeros(1, 3, dtype=torch.float64),)
    for x in steps.unbind(1):
        _, state = cell(x, state)
    expected = sum(
        torch.linalg.matrix_power(cell.recurrent, 3 - t) @ cell.input @ steps[0, t] for t in range(4)
    )
    torch.testing.assert_close(state[0][0], expected, rtol=0, atol=1e-12)


def test_an_unknown_activation_is_refused_when_the_cell_is_built() -> None:
    with pytest.raises(UsageError, match="no activation called 'rely'") as error:
        RNN(2, 3, activation="rely")
    assert "Did you mean 'relu'?" in str(error.value)
