"""One unit explodes, vanishes or stays."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from seqlab.cells.rnn import RNN
from seqlab.core.errors import UsageError
from seqlab.inspection.jacobians import jacobians
from seqlab.inspection.scalar_study import scalar_curve, scalar_curves, scalar_trajectory
from seqlab.inspection.unroll import unroll


@pytest.mark.spec(92)
def test_the_three_fates_are_powers_above_below_and_at_one() -> None:
    below, at, above = scalar_curves((0.5, 1.25, 2.0), slope=0.8, max_distance=30)
    assert [curve.fate for curve in (below, at, above)] == ["vanishes", "stays", "explodes"]
    assert below.factors[30] == pytest.approx(0.4**30)
    assert at.factors == pytest.approx([1.0] * 31)
    assert above.factors[30] == pytest.approx(1.6**30)
    assert above.table()[2] == {"distance": 2, "factor": pytest.approx(2.56)}
    assert above.factor == pytest.approx(1.6)


@pytest.mark.spec(92)
@pytest.mark.parametrize("weight", [0.9, 1.0, 1.1, -1.1])
def test_the_power_is_the_derivative_of_a_linear_unit(weight: float) -> None:
    cell = RNN(1, 1, activation="identity", bias=False).double()
    with torch.no_grad():
        cell.recurrent.fill_(weight)
    measured = jacobians(unroll(cell, torch.randn(1, 11, 1, dtype=torch.float64)))[0, :, 0, 0]
    assert measured == pytest.approx(scalar_curve(weight, max_distance=10).factors)


@pytest.mark.spec(92, 93)
@pytest.mark.parametrize("weight", [0.7, 1.6])
def test_with_the_mean_slope_that_was_met_the_power_is_the_derivative_of_a_tanh_unit(weight: float) -> None:
    inputs = [0.3, -0.8, 0.05, 1.1, -0.2]
    walk = scalar_trajectory(weight, inputs, hidden=0.4)
    assert all(0 < slope <= 1 for slope in walk.slopes)
    layer = nn.RNN(1, 1, bias=False, batch_first=True).double()
    with torch.no_grad():
        layer.weight_ih_l0.fill_(1.0)
        layer.weight_hh_l0.fill_(weight)
    start = torch.full((1, 1, 1), 0.4, dtype=torch.float64, requires_grad=True)
    outputs, _ = layer(torch.tensor(inputs, dtype=torch.float64).view(1, -1, 1), start)
    assert walk.hidden == pytest.approx(outputs.flatten().tolist())
    for time, derivative in enumerate(walk.derivatives):
        assert derivative == pytest.approx(
            torch.autograd.grad(outputs[0, time, 0], start, retain_graph=True)[0].item()
        )
    assert scalar_curve(weight, slope=walk.mean_slope, max_distance=5).factors[-1] == pytest.approx(
        walk.derivatives[-1]
    )


def test_a_saturated_unit_has_slope_zero_and_passes_nothing() -> None:
    walk = scalar_trajectory(2.0, [0.0, 40.0, 0.0])
    assert walk.slopes[1] == 0.0
    assert walk.derivatives[1:] == [0.0, 0.0]
    assert walk.mean_slope == 0.0
    with pytest.raises(UsageError, match="there are no inputs"):
        scalar_trajectory(1.0, [])
