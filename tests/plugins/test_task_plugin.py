"""A task that seqlab does not know, from an installed package: every command works with it."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
import torch
from torch.nn.functional import binary_cross_entropy

from seqlab.batches.batch import Batch
from seqlab.core.plugins import load_plugin_file
from seqlab.tasks.spec import task_specs

EXAMPLE = Path(__file__).parents[2] / "docs" / "examples" / "plugins" / "ordinal_rating.py"
WORDS = ("awful", "poor", "fair", "good", "great")


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with ratings, and the plug-in installed as a package of its own."""
    folder = tmp_path_factory.mktemp("ratings")
    chance = random.Random(7)
    rows = [
        f"the {chance.choice('abc')} food was {WORDS[star]},{star + 1}"
        for star in range(5)
        for _ in range(40)
    ]
    (folder / "reviews.csv").write_text("text,stars\n" + "\n".join(rows) + "\n", encoding="utf-8")
    site = folder / "site"
    info = site / "seqlab_ordinal-1.0.dist-info"
    info.mkdir(parents=True)
    (site / "seqlab_ordinal.py").write_text(EXAMPLE.read_text(encoding="utf-8"), encoding="utf-8")
    (info / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: seqlab-ordinal\nVersion: 1.0\n", encoding="utf-8"
    )
    (info / "entry_points.txt").write_text("[seqlab]\nordinal_rating = seqlab_ordinal\n", encoding="utf-8")
    for name, seed in (("first", 1), ("second", 2)):
        _seqlab(
            folder,
            *("train", "reviews.csv", "task=ordinal_rating", "data.label=stars", "data.text=text"),
            *("--model", "n_gram_bag", "training.steps=400", "tokens.kind=words", "data.seed=1"),
            *(f"training.seed={seed}", "training.threads=1", "--out", name),
        )
    return folder


def _seqlab(folder: Path, *arguments: str) -> str:
    path = os.pathsep.join(filter(None, [str(folder / "site"), os.environ.get("PYTHONPATH", "")]))
    command = [sys.executable, "-m", "seqlab", *arguments]
    environment = {**os.environ, "PYTHONPATH": path, "SEQLAB_CACHE": str(folder / "cache")}
    result = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=120)
    assert result.returncode == 0, result.stderr
    return result.stdout


@pytest.mark.slow
def test_training_scores_beside_the_baseline_and_writes_a_report(workspace: Path) -> None:
    results = json.loads((workspace / "first" / "results.json").read_text(encoding="utf-8"))
    scores = {score["name"]: score for score in results["splits"]["test"]["scores"]}
    assert scores["mae"]["value"] < 0.3 < scores["mae"]["baseline"]
    assert scores["accuracy"]["baseline_name"] == "the median rating"
    report = (workspace / "first" / "report.html").read_text(encoding="utf-8")
    assert "mae" in report
    assert "the median rating" in report


@pytest.mark.slow
def test_evaluate_predict_and_compare(workspace: Path) -> None:
    evaluated = json.loads(_seqlab(workspace, "evaluate", "first", "--json"))
    results = json.loads((workspace / "first" / "results.json").read_text(encoding="utf-8"))
    assert list(evaluated["scores"].values()) == results["splits"]["test"]["scores"]
    predicted = json.loads(
        _seqlab(
            workspace,
            "predict",
            "first",
            *(f"the a food was {word}" for word in WORDS),
            "--top",
            "5",
            "--json",
        )
    )["predictions"]
    assert [prediction["answer"] for prediction in predicted] == ["1", "2", "3", "4", "5"]
    for prediction in predicted:
        assert sum(share for _, share in prediction["ranking"]) == pytest.approx(1)
    compared = json.loads(_seqlab(workspace, "compare", "first", "second", "--json"))
    assert set(compared["runs"]) == {"first", "second"}
    assert "mae" in compared["differences"]


@pytest.mark.slow
def test_without_the_package_the_run_says_what_is_missing(workspace: Path) -> None:
    command = [sys.executable, "-m", "seqlab", "predict", "first", "good"]
    result = subprocess.run(command, cwd=workspace, capture_output=True, text=True, timeout=120)
    assert result.returncode == 2
    assert "ordinal_rating" in result.stderr
    assert "--plugin" in result.stderr


@pytest.fixture
def module(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The module of the example; its task is forgotten after the test."""
    monkeypatch.setattr(task_specs, "_parts", dict(task_specs._parts))
    before = set(sys.modules)
    load_plugin_file(EXAMPLE)
    (name,) = [name for name in set(sys.modules) - before if name.startswith("seqlab_plugin_ordinal_rating")]
    return sys.modules.pop(name)


def test_the_loss_is_the_sum_over_thresholds(module: ModuleType) -> None:
    """Three ratings, two outputs, by hand."""
    logits = torch.tensor([[0.5, -1.0], [2.0, 1.0], [-0.3, -0.7]], requires_grad=True)
    ratings = torch.tensor([1, 2, 0])
    tokens = torch.zeros(3, 1, dtype=torch.long)
    batch = Batch(tokens, tokens == 0, {"rating": ratings}, torch.arange(3))
    objective = module.RatingObjective.__new__(module.RatingObjective)
    loss = objective.loss(lambda *_: logits, batch, step=0, carry=())
    expected = binary_cross_entropy(
        torch.sigmoid(logits), torch.tensor([[1.0, 0.0], [1.0, 1.0], [0.0, 0.0]]), reduction="sum"
    )
    assert loss.total.item() == pytest.approx(expected.item())
    assert (loss.count, loss.correct) == (3, 3)
    assert module.decode_ratings(logits.detach().numpy()).tolist() == [1, 2, 0]
    assert np.issubdtype(module.decode_ratings(logits.detach().numpy()).dtype, np.integer)
