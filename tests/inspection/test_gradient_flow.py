"""What flows back at a step is what autograd, finite differences and the weights' own gradients say."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from seqlab.blocks.recurrent import build_stack
from seqlab.cells.lstm import LSTM
from seqlab.core.errors import UsageError
from seqlab.inspection.gradient_flow import gradient_flow
from seqlab.inspection.unroll import unroll

IN, HIDDEN, TIME = 3, 5, 7


def some_steps(batch: int = 2, time: int = TIME) -> Tensor:
    return torch.randn(batch, time, IN, dtype=torch.float64, generator=torch.Generator().manual_seed(5))


@pytest.mark.spec(83)
def test_the_backward_view_of_an_lstm_is_what_moving_each_state_by_hand_does_to_the_loss() -> None:
    torch.manual_seed(0)
    layer = nn.LSTM(IN, HIDDEN, batch_first=True).double()
    steps = some_steps(batch=1)
    (flow,) = gradient_flow(unroll(layer, steps))
    assert flow.memory_gradient is not None
    for time in range(TIME - 1):
        _, (hidden, memory) = layer(steps[:, : time + 1])
        rest = steps[:, time + 1 :]

        def loss(hidden: Tensor, memory: Tensor, rest: Tensor = rest) -> Tensor:
            return layer(rest, (hidden, memory))[0][:, -1].sum()

        expected_hidden = central_differences(lambda moved, m=memory: loss(moved, m), hidden)
        assert flow.hidden_gradient[0, time] == pytest.approx(np.linalg.norm(expected_hidden), rel=1e-6)
        # A memory is also shown in the hidden state of its own step: h = output_gate ⊙ tanh(c).
        output_gate = hidden / torch.tanh(memory)
        expected_memory = central_differences(
            lambda moved, e=output_gate: loss(e * torch.tanh(moved), moved), memory
        )
        assert flow.memory_gradient[0, time] == pytest.approx(np.linalg.norm(expected_memory), rel=1e-6)
    assert flow.hidden_gradient[0, -1] == pytest.approx(HIDDEN**0.5)  # the loss is the sum of the last output


def central_differences(function: object, at: Tensor, step: float = 1e-5) -> list[float]:
    found = []
    for unit in range(at.shape[-1]):
        move = torch.zeros_like(at)
        move[..., unit] = step
        with torch.no_grad():
            found.append(((function(at + move) - function(at - move)) / (2 * step)).item())
    return found


@pytest.mark.spec(83)
def test_the_forward_view_is_the_size_of_each_state_and_steps_add_up_to_the_gradient_of_the_bias() -> None:
    torch.manual_seed(1)
    layer = nn.RNN(IN, 1, batch_first=True).double()  # one unit: norms are absolute values
    steps = some_steps(batch=1)
    outputs, _ = layer(steps)
    (flow,) = gradient_flow(unroll(layer, steps))
    np.testing.assert_allclose(flow.hidden[0], outputs[0, :, 0].detach().abs())
    # h_t = tanh(a_t), a_t = projected_t + u h_{t-1}: each step gives tanh′(a_t) ∂L/∂h_t to the bias.
    np.testing.assert_allclose(
        flow.projected_gradient[0], (1 - flow.hidden[0] ** 2) * flow.hidden_gradient[0]
    )
    signs = np.sign(layer.weight_hh_l0.item()) ** np.arange(TIME)[::-1]
    (bias_gradient,) = torch.autograd.grad(outputs[0, -1].sum(), [layer.bias_ih_l0])
    assert (signs * flow.projected_gradient[0]).sum() == pytest.approx(bias_gradient.item())
    assert flow.memory is None
    assert flow.table()[2] == {
        "time": 2,
        "hidden": flow.hidden[0, 2],
        "hidden_gradient": flow.hidden_gradient[0, 2],
        "projected_gradient": flow.projected_gradient[0, 2],
    }


def test_a_loss_of_all_outputs_and_both_directions_is_followed_through_every_layer() -> None:
    torch.manual_seed(2)
    stack = build_stack(IN, LSTM, [4, HIDDEN], bidirectional=True).double()
    unrolled = unroll(stack, some_steps(batch=3), [7, 2, 4])
    goal = torch.randn(3, 7, 2 * HIDDEN, dtype=torch.float64)
    flows = gradient_flow(unrolled, lambda outputs: (outputs * goal).sum())
    assert [(flow.layer, flow.reverse) for flow in flows] == [(0, False), (0, True), (1, False), (1, True)]
    for flow, track in zip(flows, unrolled.traces, strict=True):
        for time in range(7):
            found = torch.autograd.grad(
                (unrolled.outputs * goal).sum(), track.hidden[time], retain_graph=True
            )[0].norm(dim=-1)
            is_real = unrolled.is_token[:, time].numpy()
            np.testing.assert_allclose(flow.hidden_gradient[is_real, time], found[is_real])
            assert np.isnan(flow.hidden_gradient[~is_real, time]).all()
    assert len(flows[0].table()) == 7


def test_each_sequence_has_its_loss_at_its_own_last_step() -> None:
    layer = nn.GRU(IN, HIDDEN, batch_first=True).double()
    steps = some_steps()
    (ragged,) = gradient_flow(unroll(layer, steps, [3, 7]))
    (alone,) = gradient_flow(unroll(layer, steps[:1, :3]))
    np.testing.assert_allclose(ragged.hidden_gradient[0, :3], alone.hidden_gradient[0])
    assert ragged.hidden_gradient[0, 2] == pytest.approx(HIDDEN**0.5)


def test_a_loss_that_is_no_number_is_refused() -> None:
    unrolled = unroll(nn.GRU(IN, HIDDEN).double(), some_steps())
    with pytest.raises(UsageError, match=r"the loss has shape \(2, 7\); it must be one number"):
        gradient_flow(unrolled, lambda outputs: outputs.sum(dim=-1))
