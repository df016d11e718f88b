"""All real steps of a sequence become one vector; padding is never seen."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn

from seqlab.blocks.pooling import LastPool, MaxPool, MeanPool

LENGTHS = [5, 2, 1]
POOLS = [MaxPool(), MeanPool(), LastPool(bidirectional=False), LastPool(bidirectional=True)]


def ragged(filling: float) -> tuple[Tensor, Tensor]:
    steps = (
        torch.randn(3, 5, 4, generator=torch.Generator().manual_seed(6)) - 3
    )  # negative, so that zeros from padding would win a maximum
    is_token = torch.arange(5) < torch.tensor(LENGTHS)[:, None]
    return steps.masked_fill(~is_token.unsqueeze(-1), filling), is_token


@pytest.mark.parametrize("filling", [0.0, 1e6, -1e6, float("inf"), float("nan")])
@pytest.mark.parametrize(
    "pool", POOLS, ids=lambda pool: f"{type(pool).__name__} {getattr(pool, 'bidirectional', '')}"
)
def test_what_stands_in_the_padding_changes_nothing(pool: nn.Module, filling: float) -> None:
    steps, is_token = ragged(filling)
    pooled = pool(steps, is_token)
    for row, length in enumerate(LENGTHS):
        alone = pool(steps[row : row + 1, :length], torch.ones(1, length, dtype=torch.bool))
        torch.testing.assert_close(pooled[row], alone[0], rtol=0, atol=1e-6)


def test_the_largest_and_the_mean_value_of_every_feature() -> None:
    steps, is_token = ragged(9.0)
    for row, length in enumerate(LENGTHS):
        columns = list(zip(*steps[row, :length].tolist(), strict=True))
        assert MaxPool()(steps, is_token)[row].tolist() == [max(column) for column in columns]
        assert MeanPool()(steps, is_token)[row].tolist() == pytest.approx(
            [sum(column) / length for column in columns]
        )


def test_last_is_the_last_real_step() -> None:
    steps, is_token = ragged(9.0)
    found = LastPool(bidirectional=False)(steps, is_token)
    assert found.tolist() == [steps[row, length - 1].tolist() for row, length in enumerate(LENGTHS)]


def test_the_backward_half_has_read_everything_at_the_first_step() -> None:
    steps, is_token = ragged(9.0)
    found = LastPool(bidirectional=True)(steps, is_token)
    assert found.tolist() == [
        steps[row, length - 1, :2].tolist() + steps[row, 0, 2:].tolist() for row, length in enumerate(LENGTHS)
    ]


@pytest.mark.parametrize(
    "pool", POOLS, ids=lambda pool: f"{type(pool).__name__} {getattr(pool, 'bidirectional', '')}"
)
def test_no_gradient_reaches_the_padding(pool: nn.Module) -> None:
    steps, is_token = ragged(9.0)
    steps.requires_grad_()
    pool(steps, is_token).sum().backward()
    assert steps.grad is not None
    assert (steps.grad[~is_token] == 0).all()
    assert (steps.grad[is_token] != 0).any()
