"""What a loss hands on reaches the loss of the next batch, also over a validation and over a stop."""

from __future__ import annotations

from pathlib import Path

import torch
from torch import nn

from seqlab.batches.batch import Batch
from seqlab.training.base import BatchLoss, Carry
from seqlab.training.stop_signals import StopRequest
from tests.training.test_loop import StopAt
from tests.training.toy_task import Points, make_trainer


class Counting(Points):
    """Hands on the number of batches so far, and keeps what it was given."""

    def __init__(self) -> None:
        super().__init__()
        self.given: list[list[float]] = []

    def loss(self, model: nn.Module, batch: Batch, *, step: int, carry: Carry) -> BatchLoss:
        self.given.append([part.item() for part in carry])
        loss = super().loss(model, batch, step=step, carry=carry)
        before = carry[0] if carry else torch.zeros(())
        return BatchLoss(loss.total, loss.count, loss.correct, carry=(before + 1,))


def test_every_update_is_given_what_the_one_before_left(tmp_path: Path) -> None:
    task = Counting()
    trainer = make_trainer(tmp_path, task=task, steps=7, evaluate_every=3)
    trainer.callback = stopper = StopAt(5)
    assert not trainer.run(stopper.request)
    again = make_trainer(tmp_path, task=task, steps=7, evaluate_every=3)
    saved, _ = again.checkpoints.load()
    assert saved is not None
    again.resume(saved)
    assert again.run(StopRequest())
    assert task.given == [[], [1.0], [2.0], [3.0], [4.0], [5.0], [6.0]]


def test_every_batch_of_an_accumulated_update_is_given_what_the_one_before_left(tmp_path: Path) -> None:
    task = Counting()
    assert make_trainer(tmp_path, task=task, steps=2, evaluate_every=2, gradient_accumulation=3).run(
        StopRequest()
    )
    assert task.given == [[], [1.0], [2.0], [3.0], [4.0], [5.0]]
