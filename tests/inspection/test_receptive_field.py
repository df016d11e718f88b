"""Which inputs reach which outputs, against networks whose reach is known."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from seqlab.blocks.recurrent import build_stack
from seqlab.cells.base import cells
from seqlab.cells.gru import GRU
from seqlab.core.errors import UsageError
from seqlab.inspection.receptive_field import receptive_field

IN, HIDDEN, TIME = 3, 5, 6
LOWER = np.tril(np.ones((TIME, TIME), dtype=bool))


def some_steps(batch: int = 2) -> Tensor:
    return torch.randn(batch, TIME, IN, dtype=torch.float64, generator=torch.Generator().manual_seed(8))


@pytest.mark.spec(81)
@pytest.mark.parametrize(
    "layer",
    [
        nn.LSTM(IN, HIDDEN, 2),
        nn.GRU(IN, HIDDEN),
        build_stack(IN, GRU, [4, HIDDEN]),
        cells.get("rnn")(IN, HIDDEN),
    ],
)
def test_a_forward_network_sees_the_past_and_now(layer: nn.Module) -> None:
    field = receptive_field(layer.double(), some_steps())
    assert (field.depends == LOWER).all()
    assert field.widths == [1, 2, 3, 4, 5, 6]


@pytest.mark.spec(81)
@pytest.mark.parametrize(
    "layer",
    [
        nn.LSTM(IN, HIDDEN, bidirectional=True),
        build_stack(IN, GRU, [HIDDEN], bidirectional=True, merge="mean"),
    ],
)
def test_a_bidirectional_network_sees_everything(layer: nn.Module) -> None:
    assert receptive_field(layer.double(), some_steps()).depends.all()


@pytest.mark.spec(81)
def test_the_norms_are_those_of_the_jacobian() -> None:
    torch.manual_seed(0)
    layer = nn.LSTM(IN, HIDDEN, batch_first=True, bidirectional=True).double()
    steps = some_steps()
    field = receptive_field(layer, steps)
    for row in range(2):
        jacobian = torch.autograd.functional.jacobian(lambda one: layer(one)[0], steps[row : row + 1])[
            0, :, :, 0
        ]
        np.testing.assert_allclose(
            field.norms[row], jacobian.square().sum(dim=(1, 3)).sqrt(), rtol=0, atol=1e-12
        )
    np.testing.assert_allclose(field.mean, field.norms.mean(axis=0))


def test_the_time_axis_is_found_whatever_the_layer_says_about_batch_first() -> None:
    layer = nn.GRU(IN, HIDDEN, batch_first=False).double()
    assert receptive_field(layer, some_steps()).norms.shape == (2, TIME, TIME)


def test_any_function_of_sequences_can_be_asked() -> None:
    torch.manual_seed(1)
    convolution = nn.Conv1d(IN, HIDDEN, kernel_size=3, padding=1).double()
    field = receptive_field(lambda steps: convolution(steps.transpose(1, 2)).transpose(1, 2), some_steps())
    band = np.abs(np.subtract.outer(range(TIME), range(TIME))) <= 1
    assert (field.depends == band).all()
    # A convolution is linear: each entry is the norm of the matrix of one tap.
    taps = convolution.weight.detach().norm(dim=(0, 1))
    assert field.mean[2, 1:4] == pytest.approx(taps.numpy())
    shifted = receptive_field(lambda steps: steps.roll(1, dims=1), some_steps())
    np.testing.assert_allclose(shifted.mean, np.roll(np.eye(TIME), 1, axis=0) * IN**0.5)
    constant = receptive_field(lambda steps: torch.zeros_like(steps) + 0 * steps.sum() * 0, some_steps())
    assert not constant.depends.any()


def test_a_function_that_returns_its_state_too_is_read_by_its_outputs() -> None:
    gru = nn.GRU(IN, HIDDEN, batch_first=True).double()
    np.testing.assert_allclose(
        receptive_field(gru.forward, some_steps()).norms, receptive_field(gru, some_steps()).norms, atol=1e-14
    )


@pytest.mark.slow
def test_random_probes_estimate_the_norms_and_never_invent_an_influence() -> None:
    torch.manual_seed(2)
    layer = nn.GRU(IN, HIDDEN).double()
    exact, guessed = (
        receptive_field(layer, some_steps()),
        receptive_field(layer, some_steps(), num_probes=150),
    )
    assert (guessed.depends == LOWER).all()
    np.testing.assert_allclose(guessed.mean[LOWER], exact.mean[LOWER], rtol=0.25)


def test_a_network_without_an_output_for_every_step_is_refused() -> None:
    with pytest.raises(UsageError, match=r"\(2, 6, 3\) to \(2, 1, 3\).* one output per step"):
        receptive_field(lambda steps: steps[:, :1], some_steps())
