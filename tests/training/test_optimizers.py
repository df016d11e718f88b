"""Every optimizer: against torch's own, against plain arithmetic, and in the loop."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import torch
from pydantic import ValidationError
from torch import nn

from seqlab.core.settings import choices_of
from seqlab.training.loop import TrainingLoop
from seqlab.training.optimizers.adam_2k import Adam2k
from seqlab.training.optimizers.adamw import AdamW
from seqlab.training.optimizers.base import Optimizer, named_state, optimizers
from seqlab.training.optimizers.parameter_groups import build_optimizer, set_learning_rate
from seqlab.training.optimizers.radam import RAdam
from seqlab.training.optimizers.sgd import SGD
from seqlab.training.settings import TrainingSettings
from seqlab.training.stop_signals import StopRequest
from tests.training.test_loop import StopAt, outcome
from tests.training.toy_task import make_trainer

NAMES = optimizers.names()
SETTINGS: dict[str, Any] = {"weight_decay": 0.1, "decay_all": True, "measured_steps": 0}


def compare(
    build: Callable[..., Optimizer],
    theirs: type[torch.optim.Optimizer],
    *,
    decay: float,
    updates: int,
    **options: Any,
) -> None:
    """Both move a matrix and a vector over gradients of very different sizes, at a changing rate."""
    generator = torch.Generator().manual_seed(4)
    start = [torch.randn(*shape, generator=generator, dtype=torch.float64) for shape in ((3, 5), (7,))]
    ours, reference = ([nn.Parameter(tensor.clone()) for tensor in start] for _ in range(2))
    optimizer = build(ours, weight_decay=decay)
    known = theirs(reference, lr=1.0, weight_decay=decay, **options)
    for update in range(updates):
        for mine, other in zip(ours, reference, strict=True):
            mine.grad = (
                torch.randn(mine.shape, generator=generator, dtype=torch.float64) * 10 ** (update % 5 - 3)
                + mine.detach()
            )
            other.grad = mine.grad.clone()
        known.param_groups[0]["lr"] = rate = 0.02 * (1 + update % 3)
        set_learning_rate(optimizer, rate)
        optimizer.step()
        known.step()
        for mine, other in zip(ours, reference, strict=True):
            torch.testing.assert_close(mine, other, rtol=1e-10, atol=1e-12)


@pytest.mark.spec(107)
def test_radam_is_torchs_rectified_adam_over_200_updates() -> None:
    compare(RAdam, torch.optim.RAdam, decay=0.05, updates=200, decoupled_weight_decay=True)


@pytest.mark.spec(101)
@pytest.mark.parametrize("momentum", [0.0, 0.9])
def test_sgd_is_torchs(momentum: float) -> None:
    compare(partial(SGD, momentum=momentum), torch.optim.SGD, decay=0.0, updates=30, momentum=momentum)


def test_weights_decay_beside_the_gradient_of_sgd() -> None:
    weight = nn.Parameter(torch.tensor([2.0], dtype=torch.float64))
    optimizer = SGD([weight], lr=0.2, weight_decay=0.1, momentum=0.5)
    for gradient, expected in (
        (3.0, 2.0 - 0.2 * 0.1 * 2.0 - 0.2 * 3.0),
        (1.0, 1.36 - 0.2 * 0.1 * 1.36 - 0.2 * 2.5),
    ):
        weight.grad = torch.tensor([gradient], dtype=torch.float64)
        optimizer.step()
        assert weight.item() == pytest.approx(expected)


@pytest.mark.spec(107)
def test_adam_2k_without_measuring_is_adam() -> None:
    compare(partial(Adam2k, measured_steps=0), torch.optim.AdamW, decay=0.05, updates=30)


@pytest.mark.spec(107)
def test_adam_2k_moves_nothing_while_it_measures_and_then_knows_the_size_of_gradients() -> None:
    weight = nn.Parameter(torch.tensor([2.0], dtype=torch.float64))
    optimizer = Adam2k([("w", weight)], lr=0.2, weight_decay=0.1, measured_steps=3)
    second, first, expected = 0.0, 0.0, 2.0
    for count, gradient in enumerate([3.0, -1.0, 0.5, 4.0, -2.0], start=1):
        weight.grad = torch.tensor([gradient], dtype=torch.float64)
        optimizer.step()
        second = 0.999 * second + 0.001 * gradient**2
        if count > 3:
            first = 0.9 * first + 0.1 * gradient
            expected -= 0.2 * 0.1 * expected + 0.2 * first / (1 - 0.9**count) / (
                math.sqrt(second / (1 - 0.999**count)) + 1e-8
            )
        assert weight.item() == pytest.approx(expected, rel=1e-12)
        assert (dict(named_state(optimizer))["exp_avg.w"].item() == 0.0) == (count <= 3)


@pytest.mark.spec(107)
def test_adam_2k_measures_for_2000_updates_unless_told_otherwise_and_moves_with_the_next() -> None:
    """Along a gradient of 2 all that it measures is 4, so the first momentum of 0.2 gives the first move."""
    weight = nn.Parameter(torch.tensor([5.0], dtype=torch.float64))
    optimizer = Adam2k([weight], lr=0.1)
    weight.grad = torch.tensor([2.0], dtype=torch.float64)
    for _ in range(2000):
        optimizer.step()
    assert weight.item() == 5.0
    optimizer.step()
    assert weight.item() == pytest.approx(5.0 - 0.1 * 0.1 * 2.0 / 2.0, abs=1e-7)
    settings = TrainingSettings(optimizer="adam_2k", steps=3000)
    built = build_optimizer(nn.Linear(1, 1), settings)
    assert isinstance(built, Adam2k)
    assert built.measured_steps == 2000


def test_a_run_in_which_adam_2k_would_never_move_is_refused() -> None:
    with pytest.raises(ValidationError, match=r"adam_2k .*measured_steps=2000 .*steps=500\b"):
        TrainingSettings(optimizer="adam_2k", steps=500)
    assert TrainingSettings(optimizer="adam_2k", steps=2001).measured_steps == 2000


def test_the_setting_offers_every_rule_and_adamw_is_the_default() -> None:
    assert sorted(choices_of(TrainingSettings.model_fields["optimizer"].annotation)) == NAMES
    assert isinstance(build_optimizer(nn.Linear(2, 3), TrainingSettings()), AdamW)
    assert all(optimizers.summary(name).endswith(".") for name in NAMES)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_a_stopped_run_goes_on_to_the_same_bits(name: str, tmp_path: Path) -> None:
    def trainer(folder: str) -> TrainingLoop:
        return make_trainer(
            tmp_path / folder,
            dropout=0.3,
            optimizer=name,
            ema_decay=0.9,
            measured_steps=9,
            learning_rate=0.05,
        )

    whole = trainer("whole")
    assert whole.run(StopRequest())
    stopper = StopAt(7)
    stopped = trainer("parts")
    stopped.callback = stopper
    assert not stopped.run(stopper.request)
    again = trainer("parts")
    saved, problems = again.checkpoints.load()
    assert saved is not None
    assert not problems
    again.resume(saved)
    assert again.run(StopRequest())
    assert outcome(again) == outcome(whole)


@pytest.mark.parametrize("name", NAMES)
def test_lower_layers_move_by_their_share_and_frozen_ones_not_at_all(name: str) -> None:
    """The first update is in proportion to the rate, decay included, whatever the rule."""
    moves = {}
    for share in (1.0, 0.5):
        torch.manual_seed(2)
        model = nn.ModuleDict(
            {
                "embed": nn.Linear(3, 4),
                "backbone": nn.ModuleDict({"layers": nn.ModuleList([nn.Linear(4, 4)])}),
                "head": nn.Linear(4, 2),
            }
        )
        model["head"].bias.requires_grad_(False)
        before = {key: parameter.detach().clone() for key, parameter in model.named_parameters()}
        optimizer = build_optimizer(model, TrainingSettings(optimizer=name, **SETTINGS), layer_decay=share)
        model["head"](
            model["backbone"]["layers"][0](model["embed"](torch.ones(2, 3)))
        ).square().sum().backward()
        set_learning_rate(optimizer, 0.01)
        optimizer.step()
        moves[share] = {key: parameter.detach() - before[key] for key, parameter in model.named_parameters()}
    for key, factor in {
        "embed.weight": 0.25,
        "backbone.layers.0.weight": 0.5,
        "head.weight": 1.0,
        "head.bias": 0.0,
    }.items():
        torch.testing.assert_close(moves[0.5][key], factor * moves[1.0][key], rtol=1e-3, atol=1e-6)
        assert bool(moves[1.0][key].any()) == (key != "head.bias")
    assert not any(key.endswith("head.bias") for key, _ in named_state(optimizer))


@pytest.mark.parametrize("name", NAMES)
def test_every_optimizer_is_one_of_torchs(name: str) -> None:
    """Schedulers, hooks, closures and torch's own state dict work with it."""
    model = nn.Linear(3, 2)
    optimizer = build_optimizer(model, TrainingSettings(optimizer=name, **SETTINGS))
    assert isinstance(optimizer, torch.optim.Optimizer)
    set_learning_rate(optimizer, 0.01)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=1, gamma=0.5)
    calls = []
    optimizer.register_step_post_hook(lambda *_: calls.append(optimizer.param_groups[0]["lr"]))

    def closure() -> torch.Tensor:
        optimizer.zero_grad()
        loss = model(torch.ones(4, 3)).square().sum()
        loss.backward()
        return loss

    losses = []
    for _ in range(3):
        losses.append(float(optimizer.step(closure).detach()))
        scheduler.step()
    assert calls == [0.01, 0.005, 0.0025]
    assert losses[2] < losses[0]
    twin = nn.Linear(3, 2)
    twin.load_state_dict(model.state_dict())
    again = build_optimizer(twin, TrainingSettings(optimizer=name, **SETTINGS))
    again.load_state_dict(copy.deepcopy(optimizer.state_dict()))
    for net, its in ((model, optimizer), (twin, again)):
        net.zero_grad()
        net(torch.ones(4, 3)).square().sum().backward()
        its.step()
    assert all(one.equal(other) for one, other in zip(model.parameters(), twin.parameters(), strict=True))
