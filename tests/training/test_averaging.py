from __future__ import annotations

from pathlib import Path

import pytest
import torch
from pydantic import ValidationError

from seqlab.training.checkpoints.checkpoint import Checkpoints
from seqlab.training.checkpoints.weights_file import read_weights
from seqlab.training.settings import TrainingSettings
from seqlab.training.stop_signals import StopRequest
from tests.training.test_loop import StopAt, outcome
from tests.training.toy_task import make_trainer, small_model


def test_the_saved_weights_are_the_moving_average_written_out(tmp_path: Path) -> None:
    trainer = make_trainer(tmp_path, steps=30, evaluate_every=30, learning_rate=0.1, schedule="constant", average=0.7)
    seen: list[dict[str, torch.Tensor]] = [{name: each.detach().clone() for name, each in trainer.model.named_parameters()}]

    class Keep(StopAt):
        def stepped(self, report: object) -> None:
            seen.append({name: each.detach().clone() for name, each in trainer.model.named_parameters()})

    trainer.watcher = Keep(0)
    trainer.run(StopRequest())
    saved = read_weights(tmp_path / "model.safetensors")
    for name, start in seen[0].items():
        expected = start.double()
        for step, weights in enumerate(seen[1:], start=1):
            share = min(0.7, step / (step + 9))  # 0.1, 0.18, …: the first weights count for nothing soon
            expected = share * expected + (1 - share) * weights[name].double()
        torch.testing.assert_close(saved[name].double(), expected, rtol=1e-5, atol=1e-6)
        assert not torch.allclose(saved[name], seen[-1][name], atol=1e-4)


def test_training_goes_on_with_its_own_weights_as_if_nothing_were_averaged(tmp_path: Path) -> None:
    averaged, plain = (make_trainer(tmp_path / str(decay), average=decay, learning_rate=0.1) for decay in (0.9, 0.0))
    for trainer in (averaged, plain):
        trainer.run(StopRequest())
    for ours, theirs in zip(averaged.model.parameters(), plain.model.parameters(), strict=True):
        assert ours.equal(theirs)
    assert averaged.model.training


@pytest.mark.parametrize("stop_at", [4, 13])
def test_stopping_and_going_on_keeps_the_average_to_the_bit(stop_at: int, tmp_path: Path) -> None:
    whole, parts = (make_trainer(tmp_path / name, dropout=0.3, average=0.9) for name in ("whole", "parts"))
    torch.manual_seed(9)
    whole.save()
    assert whole.run(StopRequest())
    torch.manual_seed(9)
    parts.save()
    parts.watcher = watcher = StopAt(stop_at)
    assert not parts.run(watcher.request)
    later = make_trainer(tmp_path / "parts", dropout=0.3, average=0.9, model=small_model(dropout=0.3, seed=99))
    saved, _ = Checkpoints(tmp_path / "parts" / "checkpoints").load()
    assert saved is not None
    later.resume(saved)
    assert later.run(StopRequest())
    assert outcome(later) == outcome(whole)


def test_two_averages_at_once_are_refused() -> None:
    with pytest.raises(ValidationError, match=r"average=0\.9 and average_last=3 are two ways to average the weights\. Set one of them to 0\."):
        TrainingSettings(average=0.9, average_last=3)


def test_the_last_weights_are_averaged_as_a_plain_mean_and_kept_over_a_resume(tmp_path: Path) -> None:
    whole, parts = (make_trainer(tmp_path / name, steps=30, evaluate_every=30, learning_rate=0.1, average_last=3, average_every=5) for name in "ab")
    seen: list[dict[str, torch.Tensor]] = []

    class Keep(StopAt):
        def stepped(self, report: object) -> None:
            seen.append({name: each.detach().clone() for name, each in whole.model.named_parameters()})

    whole.watcher = Keep(0)
    whole.run(StopRequest())
    saved = read_weights(tmp_path / "a" / "model.safetensors")
    for name in seen[0]:
        torch.testing.assert_close(saved[name], (seen[19][name] + seen[24][name] + seen[29][name]) / 3)
        assert not torch.allclose(saved[name], seen[-1][name], atol=1e-5)
    parts.watcher = watcher = StopAt(22)
    assert not parts.run(watcher.request)
    checkpoint, _ = Checkpoints(tmp_path / "b" / "checkpoints").load()
    assert checkpoint is not None
    later = make_trainer(tmp_path / "b", steps=30, evaluate_every=30, learning_rate=0.1, average_last=3, average_every=5, model=small_model(seed=99))
    later.resume(checkpoint)
    assert later.run(StopRequest())
    for name, tensor in read_weights(tmp_path / "b" / "model.safetensors").items():
        assert tensor.equal(saved[name])
