"""Validations with equal values: the lower loss decides what is saved, and patience goes on counting."""

from __future__ import annotations

from pathlib import Path

from torch import nn

from seqlab.training.base import Validation
from seqlab.training.stop_signals import StopRequest
from tests.training.toy_task import Points, make_trainer


class EqualValues(Points):
    """A measure that never changes, such as the accuracy on a few examples, while the loss falls."""

    def validate(self, model: nn.Module) -> Validation:
        loss = super().validate(model).facts["valid_loss"]
        return Validation(0.5, higher_is_better=True, facts={"valid_loss": loss}, loss=loss)


def test_a_lower_loss_at_the_same_value_is_saved_but_does_not_prolong_a_run(tmp_path: Path) -> None:
    trainer = make_trainer(
        tmp_path, task=EqualValues(), steps=100, evaluate_every=3, patience=2, learning_rate=0.01
    )
    assert trainer.run(StopRequest())
    assert trainer.step == 9  # the first validation, and two that are no better
    assert trainer.best_step == 9
