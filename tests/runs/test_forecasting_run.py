"""Forecasting from a file: train, resume, score, predict, on the command line and in Python."""

from __future__ import annotations

import csv
import math
import random
from datetime import date, timedelta
from pathlib import Path

import pytest
import torch

from seqlab.runs.data import open_data, open_prediction_inputs
from seqlab.runs.find_recipe import find_recipe
from seqlab.runs.run import Run
from seqlab.runs.train.prepare import Prepared, prepare
from seqlab.runs.train.start import Interrupted, resume, train
from seqlab.training.base import NullCallback, StepReport
from tests.cli.running import run as run_cli

pytestmark = pytest.mark.slow

SETTINGS = [
    "task=forecasting",
    "data.target=load",
    "data.known=holiday",
    "data.horizon=3",
    "model.hidden_size=6",
    "training.steps=12",
    "training.evaluate_every=4",
    "training.threads=1",
]
COLUMNS = ["date", "load", "wind", "holiday"]


def write_load(path: Path, *, days: int = 120, known_days: int = 0) -> Path:
    """A daily series with a weekly pattern; the last days have no load yet, but it is known which are holidays."""
    chance = random.Random(4)
    with path.open("w", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(COLUMNS)
        for day in range(days + known_days):
            is_holiday = int(chance.random() < 0.2)
            load = 50 + 10 * math.sin(2 * math.pi * day / 7) - 8 * is_holiday + chance.gauss(0, 1)
            past = [f"{load:.2f}", f"{chance.gauss(5, 2):.1f}"] if day < days else ["", ""]
            writer.writerow([date(2025, 1, 1) + timedelta(days=day), *past, is_holiday])
    return path


def prepared(data: Path, folder: Path, *more: str) -> Prepared:
    return prepare(find_recipe(str(data), [*SETTINGS, *more])[0], out=str(folder))


class Stopping(NullCallback):
    """Ends a run after some updates, as a second Ctrl-C does."""

    def on_step(self, report: StepReport) -> None:
        if report.step == 6:
            raise KeyboardInterrupt


@pytest.mark.parametrize("more", [(), ("forecasting.strategy=recursive", "data.known=holiday,wind")])
def test_a_resumed_run_ends_with_the_same_bits(tmp_path: Path, more: tuple[str, ...]) -> None:
    data = write_load(tmp_path / "load.csv")
    whole = train(prepared(data, tmp_path / "whole", *more))
    with pytest.raises(Interrupted):
        train(prepared(data, tmp_path / "parts", *more), callback=Stopping())
    parts = resume(tmp_path / "parts")
    for name, tensor in whole.model.state_dict().items():
        assert torch.equal(tensor, parts.model.state_dict()[name]), name
    assert whole.results["rmse"].value == parts.results["rmse"].value
    again = Run.load(tmp_path / "parts").evaluate()
    assert [score.value for score in again.scores] == [score.value for score in parts.results.values()]


def test_a_file_is_trained_on_and_forecast_from_the_command_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data, run = write_load(tmp_path / "load.csv"), str(tmp_path / "run")
    trained = run_cli(capsys, "train", str(data), *SETTINGS, "--out", run)
    assert trained.code == 0, trained.err
    assert "rmse" in trained.out + trained.err
    history = write_load(tmp_path / "history.csv", days=30, known_days=3)
    printed = run_cli(capsys, "predict", run, "--file", str(history))
    assert printed.code == 0, printed.err
    lines = [line.split("\t") for line in printed.out.splitlines()]
    assert [line[0] for line in lines] == ["2025-01-31", "2025-02-01", "2025-02-02"]
    for _, median, band in lines:
        low, high = map(float, band.split(" to "))
        assert low <= float(median) <= high
    [forecast] = run_cli(capsys, "predict", run, "--file", str(history), "--json").json["predictions"]
    assert [f"{step['median']:.4g}" for step in forecast["forecast"]] == [line[1] for line in lines]
    short = write_load(tmp_path / "short.csv", days=30, known_days=1)
    failed = run_cli(capsys, "predict", run, "--file", str(short))
    assert failed.code != 0
    assert all(part in failed.err for part in ("holiday", "2025-02-01", "2025-02-02"))
    assert "2025-01-31" not in failed.err


def test_a_table_in_memory_gives_the_forecast_of_its_file(tmp_path: Path) -> None:
    run = train(prepared(write_load(tmp_path / "load.csv"), tmp_path / "run"))
    history = write_load(tmp_path / "history.csv", days=30, known_days=3)
    with history.open() as stream:
        rows = list(csv.DictReader(stream))
    [in_memory] = run.predict(rows)
    [from_file] = list(open_prediction_inputs(run.recipe, str(history)))
    assert in_memory.to_json() == run.predict([from_file])[0].to_json()


def test_a_target_over_time_is_a_forecast_without_naming_the_task(tmp_path: Path) -> None:
    data = str(write_load(tmp_path / "load.csv"))
    recipe = find_recipe(data, ["data.target=load"])[0]
    assert open_data(recipe).recipe.task == "forecasting"
    assert open_data(find_recipe(data, [])[0]).recipe.task == "forecasting"
