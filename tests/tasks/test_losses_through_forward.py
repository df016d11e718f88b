"""Every training loss is computed by calling the model once, so that whatever acts on this call (hooks,
wrappers, compilers) sees all of it.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from seqlab.batches.batch import Batch
from seqlab.models.language_model import LanguageModel
from seqlab.tasks.objective import Objective
from seqlab.tasks.spec import task_specs
from seqlab.training.base import BatchLoss, Carry
from tests.golden.cases import CASES
from tests.tasks.loss_cases import LOSSES, batches, build, chunks

pytestmark = pytest.mark.slow  # short each, long together


class CallOnly:
    """A model that can be called, and nothing else."""

    def __init__(self, model: nn.Module) -> None:
        self.__model = model

    def __call__(self, *inputs: Any, **options: Any) -> Any:
        return self.__model(*inputs, **options)


def loss_of(
    name: str, objective: Objective[Any, Any], model: Any, batch: Batch, carry: Carry = ()
) -> BatchLoss:
    torch.manual_seed(8)  # dropout and whatever else is drawn
    with chunks(name):
        return objective.loss(model, batch, step=LOSSES[name].step, carry=carry)


def gradients(loss: BatchLoss, model: nn.Module) -> list[Tensor]:
    return list(
        torch.autograd.grad(loss.total, list(model.parameters()))
    )  # refuses a parameter that is not used


def test_every_task_has_a_loss_here() -> None:
    assert {CASES[case.golden].task for case in LOSSES.values()} == set(task_specs.names())


@pytest.mark.parametrize("name", LOSSES)
def test_a_loss_calls_the_model_once_and_the_model_calls_its_parts(name: str, tmp_path: Path) -> None:
    objective, model = build(name, tmp_path)
    calls: Counter[str] = Counter()
    parts = {part: module for part, module in model.named_children() if list(module.parameters())}
    for part, module in {"": model, **parts}.items():
        module.register_forward_hook(lambda *_, part=part: calls.update([part]))
    loss_of(name, objective, model, batches(objective, 1)[0])
    assert calls[""] == 1
    assert calls.keys() == {"", *parts}


@pytest.mark.parametrize("name", LOSSES)
def test_a_loss_asks_nothing_of_a_model_but_to_be_called(name: str, tmp_path: Path) -> None:
    objective, model = build(name, tmp_path)
    (batch,) = batches(objective, 1)
    direct, wrapped = loss_of(name, objective, model, batch), loss_of(name, objective, CallOnly(model), batch)
    assert (wrapped.total.item(), wrapped.count, wrapped.correct) == (
        direct.total.item(),
        direct.count,
        direct.correct,
    )
    for one, other in zip(gradients(direct, model), gradients(wrapped, model), strict=True):
        assert torch.equal(one, other)


@pytest.mark.parametrize("name", LOSSES)
def test_no_parameter_is_needed_once_the_model_has_answered(name: str, tmp_path: Path) -> None:
    """A sharded model gives up its parameters when its forward pass ends."""
    objective, model = build(name, tmp_path)
    (batch,) = batches(objective, 1)
    expected = loss_of(name, objective, model, batch)

    def give_up(*_: Any) -> None:
        for parameter in model.parameters():
            parameter.data = torch.full_like(parameter.data, torch.nan)

    model.register_forward_hook(give_up)
    found = loss_of(name, objective, model, batch)
    assert (found.total.item(), found.correct) == (expected.total.item(), expected.correct)


@pytest.mark.parametrize("name", [name for name in LOSSES if name.startswith("language_model")])
def test_a_carried_state_goes_through_the_call_too(name: str, tmp_path: Path) -> None:
    objective, model = build(name, tmp_path)
    assert isinstance(model, LanguageModel)
    first, second = batches(objective, 2)
    carry = loss_of(name, objective, CallOnly(model), first).carry
    assert bool(carry) == second.continues
    warm, cold = (loss_of(name, objective, CallOnly(model), second, given) for given in (carry, ()))
    assert (warm.total.item() != cold.total.item()) == second.continues
    assert not any(part.requires_grad for part in warm.carry)
