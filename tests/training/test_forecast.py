from __future__ import annotations

from pathlib import Path

import pytest
import torch

from seqlab.training import forecast as forecast_module
from seqlab.training.forecast import MOST, measure
from seqlab.training.settings import TrainingSettings
from seqlab.training.stop_signals import StopRequest
from tests.training.test_loop import outcome
from tests.training.toy_task import CPU, Points, make_trainer, small_model


def test_a_forecast_changes_neither_the_model_nor_the_random_numbers() -> None:
    model = small_model(dropout=0.5)
    model.eval()
    weights = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    state = torch.get_rng_state()
    forecast = measure(model, Points(), TrainingSettings(learning_rate=0.5), device=CPU)
    assert torch.get_rng_state().equal(state)
    assert all(tensor.equal(weights[name]) for name, tensor in model.state_dict().items())
    assert all(parameter.grad is None for parameter in model.parameters())
    assert not model.training
    assert (forecast.steps_per_epoch, forecast.num_parameters) == (5, 3 * 5 + 5 + 5 * 2 + 2)
    assert 0 < forecast.step_seconds < 1
    assert 0 < forecast.validation_seconds < 1
    assert forecast.peak_memory > 10_000_000


def test_a_run_with_a_forecast_before_it_ends_with_the_same_weights(tmp_path: Path) -> None:
    outcomes = []
    for number in (0, 1):
        task = Points()
        trainer = make_trainer(tmp_path / str(number), task=task, dropout=0.4)
        torch.manual_seed(4)
        if number:
            measure(trainer.model, task, trainer.settings, device=CPU)
            assert len(task.taken) == MOST
            assert task.steps == list(range(MOST))
        trainer.run(StopRequest())
        outcomes.append(outcome(trainer))
    assert outcomes[0] == outcomes[1]


def test_a_run_that_averages_validates_two_sets_of_weights(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(forecast_module, "time_validation", lambda *_: 1.5)
    for averaged in ({"ema_decay": 0.9}, {"average_checkpoints": 3}):
        assert (
            measure(small_model(), Points(), TrainingSettings(**averaged), device=CPU).validation_seconds
            == 3.0
        )
    assert measure(small_model(), Points(), TrainingSettings(), device=CPU).validation_seconds == 1.5
