"""Losses of forecasts against plain arithmetic and torch's own distributions."""

from __future__ import annotations

import math

import pytest
import torch

from seqlab.losses.forecasting import NormalOutput, QuantileOutput

LEVELS = (0.1, 0.3, 0.5, 0.9)


def softplus(value: float) -> float:
    return math.log1p(math.exp(value))


def test_quantiles_are_the_median_plus_positive_steps() -> None:
    a, b, median, c = 0.3, -0.7, 5.0, 1.2
    quantiles = QuantileOutput(LEVELS).quantiles(torch.tensor([[a, b, median, c]]))
    low = median - softplus(b)
    torch.testing.assert_close(
        quantiles, torch.tensor([[low - softplus(a), low, median, median + softplus(c)]])
    )


def test_quantiles_never_cross() -> None:
    quantiles = QuantileOutput(LEVELS).quantiles(10 * torch.randn(50, 3, 4, generator=torch.manual_seed(0)))
    assert (quantiles.diff(dim=-1) >= 0).all()  # equal only where float32 cannot tell them apart


def test_pinball_loss_by_hand() -> None:
    output = QuantileOutput(LEVELS)
    parameters, truth = torch.tensor([0.0, 0.0, 2.0, 0.0], dtype=torch.float64), 1.9
    quantiles = output.quantiles(parameters).tolist()
    expected = [
        2 * max(q * (truth - v), (q - 1) * (truth - v)) for q, v in zip(LEVELS, quantiles, strict=True)
    ]
    actual = output.loss(parameters, torch.tensor(truth, dtype=torch.float64))
    assert actual.item() == pytest.approx(sum(expected) / 4)


def test_normal_loss_and_quantiles_are_those_of_torch() -> None:
    output = NormalOutput(LEVELS)
    parameters = torch.randn(6, 2, dtype=torch.float64, generator=torch.manual_seed(1))
    truth = torch.randn(6, dtype=torch.float64)
    deviation = torch.nn.functional.softplus(parameters[:, 1]) + 1e-4
    theirs = torch.distributions.Normal(parameters[:, 0], deviation)
    torch.testing.assert_close(output.loss(parameters, truth), -theirs.log_prob(truth))
    levels = torch.tensor(LEVELS, dtype=torch.float64)
    torch.testing.assert_close(output.quantiles(parameters), theirs.icdf(levels.unsqueeze(1)).T)


@pytest.mark.parametrize(
    "output", [QuantileOutput(LEVELS), NormalOutput(LEVELS)], ids=["quantiles", "normal"]
)
def test_the_loss_is_lowest_at_the_distribution_of_the_data(output: QuantileOutput | NormalOutput) -> None:
    truth = 3 + 2 * torch.randn(20_000, dtype=torch.float64, generator=torch.manual_seed(2))
    parameters = torch.zeros(output.num_parameters, dtype=torch.float64, requires_grad=True)
    optimizer = torch.optim.LBFGS([parameters], max_iter=100, line_search_fn="strong_wolfe")

    def closure() -> torch.Tensor:
        optimizer.zero_grad()
        loss = output.loss(parameters.expand(len(truth), -1), truth).mean()
        loss.backward()
        return loss

    for _ in range(5):
        optimizer.step(closure)
    expected = torch.distributions.Normal(3.0, 2.0).icdf(torch.tensor(LEVELS)).double()
    torch.testing.assert_close(output.quantiles(parameters.detach()), expected, atol=0.08, rtol=0)
