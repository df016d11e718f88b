"""The range test finds the rate above which gradient descent diverges, where theory knows it."""

from __future__ import annotations

import copy
import math
from dataclasses import dataclass
from itertools import pairwise

import pytest
import torch
from torch import nn

from seqlab.batches.batch import Batch
from seqlab.batches.loader import Cursor, Loader
from seqlab.training.base import BatchLoss, Carry, Validation
from seqlab.training.range_test import exponential_rates, run_range_test
from seqlab.training.rate_curve import HALF_WIDTH, RateCurve
from seqlab.training.settings import TrainingSettings

CPU = torch.device("cpu")
SGD = TrainingSettings(optimizer="sgd", momentum=0.0, weight_decay=0.0, clip_norm=0.0)
LOW, HIGH, UPDATES = 1e-4, 100.0, 121
BATCH = Batch(
    torch.zeros(1, 1, dtype=torch.long),
    torch.ones(1, 1, dtype=torch.bool),
    {},
    rows=torch.zeros(1, dtype=torch.long),
)
GROWTH = (HIGH / LOW) ** (1 / (UPDATES - 1))


class Point(nn.Module):
    """A position in a bowl."""

    def __init__(self, start: list[float]) -> None:
        super().__init__()
        self.position = nn.Parameter(torch.tensor(start, dtype=torch.float64))

    def forward(self) -> torch.Tensor:
        return self.position


class NoData:
    """Batches without content; which ones are drawn does not matter."""

    def batch(self, epoch: int, number: int) -> list[int]:
        return [0]

    def batches_in(self, epoch: int) -> int:
        return 1


@dataclass
class Bowl:
    """½ Σ L_i x_i² + floor, whose gradient descent is stable up to the rate 2 / max L."""

    curvatures: tuple[float, ...]
    floor: float = 0.01
    noise: float = 0.0
    calls: int = 0

    def loader(self, cursor: Cursor) -> Loader:
        return Loader(NoData(), lambda *_: BATCH, cursor=cursor)  # type: ignore[arg-type]

    def loss(self, model: nn.Module, batch: Batch, *, step: int, carry: Carry) -> BatchLoss:
        self.calls += 1
        position = model()
        value = 0.5 * (torch.tensor(self.curvatures, dtype=torch.float64) * position**2).sum() + self.floor
        return BatchLoss(value + self.noise * torch.randn(()), 1, 0)

    def validate(self, model: nn.Module) -> Validation:
        raise AssertionError("nothing is validated")

    def describe_rows(self, batch: Batch) -> str:
        return ""

    def sample(self, model: nn.Module) -> str:
        return ""


def curve_of(
    bowl: Bowl, settings: TrainingSettings = SGD, *, start: float = 1.0, updates: int = UPDATES
) -> RateCurve:
    model = Point([start] * len(bowl.curvatures))
    return run_range_test(model, bowl, settings, device=CPU, low=LOW, high=HIGH, updates=updates)


@pytest.mark.parametrize("curvature", [0.3, 2.0, 7.0, 150.0])
def test_the_limit_is_two_over_the_curvature(curvature: float) -> None:
    """x <- (1 - rate L) x shrinks exactly while rate < 2 / L."""
    curve = curve_of(Bowl((curvature,)))
    assert curve.limit is not None
    assert abs(math.log(curve.limit * curvature / 2)) <= (HALF_WIDTH + 1) * math.log(GROWTH)


@pytest.mark.parametrize("curvature", [0.3, 2.0, 7.0, 150.0])
def test_every_loss_below_the_limit_falls_and_every_loss_above_it_rises(curvature: float) -> None:
    curve = curve_of(Bowl((curvature,), floor=0.0))
    for place, (before, after) in enumerate(pairwise(curve.losses)):
        assert (after < before) == (curve.rates[place] < 2 / curvature)  # `after` is the loss after this rate


def test_the_suggestion_is_stable_in_every_direction() -> None:
    """Flat directions still lower the loss while the steepest one starts to grow, so the limit comes late."""
    curve = curve_of(Bowl((0.5, 3.0, 40.0)))
    assert curve.suggestion is not None
    assert 2 / 40.0 / 20 < curve.suggestion < 2 / 40.0


def test_the_suggestion_is_stable_and_a_tenth_of_the_limit() -> None:
    curve = curve_of(Bowl((5.0,)))
    assert curve.limit is not None
    assert curve.suggestion == pytest.approx(curve.limit / 10)
    assert curve.suggestion is not None
    assert curve.suggestion < 2 / 5.0
    assert curve.steepest is not None
    assert curve.steepest < 2 / 5.0


def test_noise_does_not_move_the_limit_far() -> None:
    torch.manual_seed(3)
    curve = curve_of(Bowl((5.0,), floor=1.0, noise=0.05))
    assert curve.limit is not None
    assert 2 / 5.0 / 8 < curve.limit < 2 / 5.0 * 8


def test_the_rates_grow_exponentially_and_end_at_the_limits() -> None:
    rates = exponential_rates(1e-5, 0.1, 9)
    assert (rates[0], rates[-1]) == (pytest.approx(1e-5), pytest.approx(0.1))
    ratios = [after / before for before, after in pairwise(rates)]
    assert ratios == pytest.approx([ratios[0]] * 8)


def test_the_test_ends_when_the_loss_explodes() -> None:
    bowl = Bowl((7.0,))
    curve = curve_of(bowl)
    assert bowl.calls < UPDATES
    assert len(curve.rates) == len(curve.losses) <= bowl.calls
    assert all(math.isfinite(loss) for loss in curve.losses)


def test_a_loss_that_is_not_finite_ends_the_test() -> None:
    class Cliff(Bowl):
        def loss(self, model: nn.Module, batch: Batch, *, step: int, carry: Carry) -> BatchLoss:
            found = super().loss(model, batch, step=step, carry=carry)
            return BatchLoss(found.total * (math.nan if step >= 30 else 1.0), 1, 0)

    assert len(curve_of(Cliff((7.0,))).losses) == 30


def test_a_loss_that_still_falls_has_no_limit() -> None:
    curve = curve_of(Bowl((1e-3,)))  # stable up to 2000, far above the range
    assert curve.falls
    assert not curve.rises
    assert curve.limit is curve.suggestion is None


def test_a_loss_that_never_falls_has_no_suggestion() -> None:
    torch.manual_seed(5)
    frozen = Point([1.0])
    curve = run_range_test(frozen, Bowl((0.0,), floor=1.0, noise=0.1), SGD, device=CPU, updates=40)
    assert len(curve.losses) == 40
    assert curve.suggestion is curve.steepest is curve.limit is None


def test_model_and_random_numbers_are_left_as_they_were() -> None:
    model, bowl = Point([1.0, -2.0]), Bowl((3.0, 1.0), noise=0.1)
    before = copy.deepcopy(model.state_dict())
    model.eval()
    torch.manual_seed(7)
    expected = torch.rand(3)
    torch.manual_seed(7)
    run_range_test(model, bowl, SGD, device=CPU)
    assert torch.equal(torch.rand(3), expected)
    assert torch.equal(model.state_dict()["position"], before["position"])
    assert model.position.grad is None
    assert not model.training


def test_random_numbers_are_restored_after_a_failure() -> None:
    class Broken(Bowl):
        def loss(self, model: nn.Module, batch: Batch, *, step: int, carry: Carry) -> BatchLoss:
            torch.rand(5)
            raise RuntimeError("broken")

    torch.manual_seed(7)
    expected = torch.rand(3)
    torch.manual_seed(7)
    with pytest.raises(RuntimeError, match="broken"):
        curve_of(Broken((1.0,)))
    assert torch.equal(torch.rand(3), expected)


def test_the_loss_is_averaged_over_the_neighbors_of_each_update() -> None:
    losses = [5.0, 1.0, 3.0, 2.0, 8.0, 4.0, 6.0, 7.0]
    curve = RateCurve([10.0**n for n in range(-8, 0)], losses)
    assert curve.smoothed == pytest.approx([5.0, 9 / 3, 19 / 5, 29 / 7, 31 / 7, 27 / 5, 17 / 3, 7.0])
