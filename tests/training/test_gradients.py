"""Several batches for one update: as if they had been one, whatever their sizes."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from seqlab.batches.batch import Batch
from seqlab.training.base import BatchLoss, Carry
from seqlab.training.gradients import accumulate_gradients
from seqlab.training.settings import TrainingSettings
from tests.training.toy_task import Points, small_model


def gradients(model: nn.Module, parts: list[list[int]]) -> tuple[list[torch.Tensor], float, int]:
    task = Points()
    batches = [task._collate(torch.tensor(rows, dtype=torch.long).numpy(), False) for rows in parts]
    backward = accumulate_gradients(model, task, batches, TrainingSettings(clip_norm=0), step=0, carry=())
    return (
        [parameter.grad.clone() for parameter in model.parameters() if parameter.grad is not None],
        backward.mean,
        backward.loss.correct,
    )


def test_four_batches_of_unequal_size_give_the_gradient_of_one() -> None:
    model = small_model().eval()  # dropout would draw other masks
    whole, mean, correct = gradients(model, [list(range(20))])
    parts, mean_of_parts, correct_of_parts = gradients(
        model, [[0], [1, 2, 3], list(range(4, 15)), list(range(15, 20))]
    )
    for one, several in zip(whole, parts, strict=True):
        torch.testing.assert_close(several, one, rtol=1e-5, atol=1e-7)
    assert mean_of_parts == pytest.approx(mean, rel=1e-6)
    assert correct_of_parts == correct


def test_a_state_is_carried_through_all_batches_of_an_update_and_all_are_told_its_number() -> None:
    given: list[Carry] = []
    steps: list[int] = []

    class Carrying(Points):
        def loss(self, model: nn.Module, batch: Batch, *, step: int, carry: Carry) -> BatchLoss:
            given.append(carry)
            steps.append(step)
            return super().loss(model, batch, step=step, carry=carry)

    task = Carrying()
    batches = [task._collate(torch.tensor([number]).numpy(), False) for number in range(3)]
    first = (torch.ones(1),)
    after = accumulate_gradients(
        small_model(), task, batches, TrainingSettings(), step=4, carry=first
    ).loss.carry
    assert given[0] is first
    assert given[1] is not given[2]
    assert all(len(carry) == 1 for carry in given)
    assert after is not given[2]
    assert steps == [4, 4, 4]


@pytest.mark.parametrize("parts", [[[]], [[], []]], ids=["one batch", "two batches"])
def test_batches_without_targets_have_a_loss_and_a_gradient_of_zero(parts: list[list[int]]) -> None:
    model = small_model()
    found, mean, correct = gradients(model, parts)
    assert (mean, correct) == (0.0, 0)
    for gradient in found:
        assert torch.equal(gradient, torch.zeros_like(gradient))


def test_a_batch_without_targets_changes_nothing_beside_others() -> None:
    model = small_model()
    expected, mean, _ = gradients(model, [[0, 1], [2, 3, 4]])
    found, mean_with_empty, _ = gradients(model, [[0, 1], [], [2, 3, 4]])
    assert mean_with_empty == mean
    for one, other in zip(expected, found, strict=True):
        assert torch.equal(one, other)
