"""What a finished run keeps: the weights of its best validation, also when early stopping ended it."""

from __future__ import annotations

from pathlib import Path

import torch
from torch import Tensor, nn

from seqlab.training.base import StepReport, Validation
from seqlab.training.checkpoints.weights_file import read_weights
from seqlab.training.stop_signals import StopRequest
from tests.training.toy_task import Points, make_trainer


class KeepWeights:
    """Copies the weights at every validation, with its loss."""

    def __init__(self, model: nn.Module) -> None:
        self.model = model
        self.weights: dict[int, dict[str, Tensor]] = {}
        self.losses: dict[int, float] = {}

    def on_step(self, report: StepReport) -> None: ...

    def on_validation(self, step: int, validation: Validation, *, is_best: bool) -> None:
        self.weights[step] = {name: tensor.clone() for name, tensor in self.model.state_dict().items()}
        self.losses[step] = validation.value


def test_an_early_stopped_run_saves_the_weights_with_the_lowest_validation_loss(tmp_path: Path) -> None:
    # so high a rate that the loss rises again
    trainer = make_trainer(tmp_path, steps=400, evaluate_every=2, learning_rate=2.0, patience=5)
    trainer.callback = kept = KeepWeights(trainer.model)
    assert trainer.run(StopRequest())
    assert trainer.stopped_early
    best = min(kept.losses, key=lambda step: kept.losses[step])
    assert trainer.best_step == best == trainer.step - 5 * 2
    saved = read_weights(trainer.best_path, expected=trainer.model.state_dict(), run_id="")
    assert all(torch.equal(saved[name], tensor) for name, tensor in kept.weights[best].items())
    assert not all(torch.equal(saved[name], tensor) for name, tensor in kept.weights[trainer.step].items())
    trainer.model.load_state_dict(saved)
    trainer.model.eval()
    assert Points().validate(trainer.model).value == kept.losses[best]
