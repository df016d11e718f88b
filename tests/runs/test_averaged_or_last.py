"""Runs that average their weights save the better of averaged and last weights, chosen on validation data."""

from __future__ import annotations

import json
import signal
from pathlib import Path

import pytest
import torch
from torch import nn

from seqlab.batches.batch import Batch
from seqlab.batches.samplers import Indices
from seqlab.runs.find_recipe import find_recipe
from seqlab.runs.folder.layout import CHECKPOINTS, JOURNAL, REPORT, RESULTS, WEIGHTS
from seqlab.runs.folder.manifest import verify_start
from seqlab.runs.train.prepare import Prepared, prepare
from seqlab.runs.train.start import train
from seqlab.tasks.classification.codec import ClassificationCodec
from seqlab.tasks.classification.evaluator import ClassificationEvaluator
from seqlab.tasks.evaluation import Evaluation
from seqlab.tasks.labeled.split import LabeledSplit
from seqlab.training.checkpoints.checkpoint import Checkpoints
from seqlab.training.checkpoints.snapshot import weights_in
from seqlab.training.checkpoints.weights_file import read_weights
from seqlab.training.journal import read_journal
from tests.runs import toy_runs
from tests.runs.source_runs import hurried
from tests.runs.test_resume_after_kill import die_at_call, start_with
from tests.runs.toy_runs import LANGUAGE_MODEL, fingerprint, finish, folder_in_memory, go_on, start

RECIPE = """
task = "language_model"
[tokens]
kind = "characters"
[model]
kind = "recurrent"
cell = "lstm"
hidden_size = 24
dropout = 0.0
[training]
steps = 2000
learning_rate = 1e-2
batch_size = 5
threads = 1
evaluate_every = 400
average_checkpoints = 8
average_every = 100
[language_model]
window = 12
"""


def prepared(folder: Path, *words: str) -> Prepared:
    """A recipe for 2,000 updates with another budget."""
    data = toy_runs.write_data("language_model", folder)
    (folder / "story.toml").write_text(RECIPE)
    with hurried():
        return prepare(
            find_recipe(str(folder / "story.toml"), [f"data.train={data}", *words])[0],
            out=str(folder / "run"),
        )


def validation_losses(made: Prepared) -> tuple[float, float]:
    """The validation losses of the saved weights and of the last ones."""
    checkpoint, _ = Checkpoints(made.folder / CHECKPOINTS, run_id=verify_start(made.folder).run_id).load()
    assert checkpoint is not None
    losses = []
    for weights in (read_weights(made.folder / WEIGHTS), weights_in(checkpoint.tensors)):
        made.model.load_state_dict(weights)
        made.model.eval()
        with torch.inference_mode():
            losses.append(made.objective.validate(made.model).value)
    return losses[0], losses[1]


@pytest.mark.slow
@pytest.mark.parametrize("budget", ["training.steps=300", "training.minutes=0.02"])
def test_a_run_much_shorter_than_its_recipe_saves_nothing_worse_than_its_last_weights(
    budget: str, tmp_path: Path
) -> None:
    made = prepared(tmp_path, budget)
    said: list[str] = []
    with hurried():
        run = train(made, on_stage=said.append)
    saved, last = validation_losses(made)
    assert saved <= last
    training = run.results.raw["training"]
    assert training["steps"] < 1000
    assert training["weights"] in ("averaged", "last")
    assert (
        training["candidates"][training["weights"]]
        == min(training["candidates"].values())
        == pytest.approx(saved, rel=1e-5)
    )
    lines = [text for text in said if "averaged" in text]
    assert len(lines) == 1
    assert f"the {training['weights']} weights of step {training['best_step']}" in lines[0]
    assert all(f"{value:.4f}" in lines[0] for value in training["candidates"].values())
    assert f"{training['weights']} (" in (run.folder / REPORT).read_text(encoding="utf-8")
    best = [
        event
        for event in read_journal(run.folder / JOURNAL)
        if event["event"] == "validated" and event["step"] == training["best_step"]
    ]
    assert (best[0]["weights"], best[0]["candidates"]) == (training["weights"], training["candidates"])


def test_what_was_fitted_to_the_budget_is_said_before_training(tmp_path: Path) -> None:
    reason = next(
        reason for reason in prepared(tmp_path, "training.steps=500").reasons if "average_every" in reason
    )
    assert "500 steps" in reason
    assert "evaluate_every=100" in reason
    assert "average_every=25" in reason
    assert "training." in reason
    assert not any("average_every" in reason for reason in prepared(tmp_path).reasons)


def write_tables(folder: Path, *, swapped: bool) -> list[str]:
    """The same tables to learn and validate, and a test table whose labels are right or all wrong."""
    folder.mkdir()
    lines = toy_runs.write_data("classifier", folder).read_text(encoding="utf-8").splitlines()
    parts = {"train": lines[1:91], "valid": lines[91:116], "test": lines[116:]}
    if swapped:
        other = {"low": "high", "high": "low"}
        parts["test"] = [
            f"{text},{other[label]}" for text, label in (line.split(",") for line in parts["test"])
        ]
    for name, part in parts.items():
        (folder / f"{name}.csv").write_text("\n".join(["text,label", *part]) + "\n", encoding="utf-8")
    return [f"data.{name}={folder / name}.csv" for name in ("valid", "test")]


@pytest.mark.slow
def test_test_data_has_no_say_in_what_is_saved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = [
        *toy_runs.CLASSIFIER,
        "training.threads=1",
        "training.average_checkpoints=3",
        "training.average_every=2",
        "training.learning_rate=0.01",
    ]
    used: list[str] = []
    collate, evaluate = ClassificationCodec.collate, ClassificationEvaluator.evaluate

    def recorded(codec: ClassificationCodec, split: LabeledSplit, rows: Indices) -> Batch:
        used.append(split.name)
        return collate(codec, split, rows)

    def after_training(evaluator: ClassificationEvaluator, model: nn.Module, split: str) -> Evaluation:
        if "scoring" not in used:
            assert set(used) == {"train", "valid"}
            used.append("scoring")
        return evaluate(evaluator, model, split)

    monkeypatch.setattr(ClassificationCodec, "collate", recorded)
    monkeypatch.setattr(ClassificationEvaluator, "evaluate", after_training)
    saved, results = [], []
    for swapped in (False, True):
        folder = tmp_path / str(swapped)
        parts = write_tables(folder, swapped=swapped)
        with hurried():
            made = prepare(
                find_recipe(str(folder / "train.csv"), [*settings, *parts])[0], out=str(folder / "run")
            )
        used.clear()
        run = train(made)
        assert used.count("scoring") == 1
        saved.append(read_weights(run.folder / WEIGHTS))
        results.append(json.loads((run.folder / RESULTS).read_text(encoding="utf-8")))
    assert results[0]["splits"]["test"]["scores"] != results[1]["splits"]["test"]["scores"]
    assert all(
        results[0]["training"][name] == results[1]["training"][name]
        for name in ("weights", "candidates", "best_step")
    )
    assert saved[0].keys() == saved[1].keys()
    assert all(tensor.equal(saved[1][name]) for name, tensor in saved[0].items())


UPDATE = "seqlab.training.averaging:CheckpointAverage", "update"
MOMENTS = {
    "before the first averaged moment": (*UPDATE, 2),
    "between two averaged moments": (*UPDATE, 11),
    "as the last weights are validated beside the averaged ones": (
        "seqlab.tasks.language_model.objective:LanguageModelObjective",
        "validate",
        7,
    ),
    "after training, before the scores": ("seqlab.runs.train.scoring", "write_results", 1),
}


@pytest.mark.parametrize(
    "every",
    [
        pytest.param(3, marks=pytest.mark.slow, id="every third"),
        pytest.param(1, marks=pytest.mark.long, id="all"),
    ],
)
def test_a_kill_before_during_or_after_averaging_changes_no_bit(every: int, cache_folder: Path) -> None:
    settings = [word for word in LANGUAGE_MODEL if "ema_decay" not in word] + [
        "training.average_checkpoints=3",
        "training.average_every=3",
    ]
    with folder_in_memory() as folder:
        data = toy_runs.write_data("language_model", folder)
        assert finish(start, data, folder / "whole", settings) == 0
        whole = fingerprint(folder / "whole")
        assert {event.get("weights") for event in whole["journal"] if event["event"] == "validated"} <= {
            "averaged",
            "last",
        }
        moments = [(name, after) for name in MOMENTS for after in (False, True)]
        for name, after in moments[::every]:
            owner, function, number = MOMENTS[name]
            fault = (owner, function, number), {"after": after}
            killed = folder / f"{name.replace(' ', '-')}-{after}"
            ended = finish(start_with, die_at_call, *fault, data, killed, settings)
            assert ended == -signal.SIGKILL, name
            assert finish(go_on, data, killed, settings) == 0, name
            assert fingerprint(killed) == whole, name
