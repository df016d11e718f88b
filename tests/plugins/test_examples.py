"""Every example of docs/guides/extend.md works: with --plugin, in Python, and as an installed package."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.plugins.example_data import EXAMPLES, QUICK, documented_commands, seqlab, write_data

COMMANDS = documented_commands()
NAMES = sorted(path.stem for path in EXAMPLES.glob("*.py"))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_data(tmp_path)
    return tmp_path


def recipe_of(run: Path) -> dict[str, Any]:
    return tomllib.loads((run / "recipe.toml").read_text(encoding="utf-8"))


def scores_of(run: Path) -> dict[str, Any]:
    results = json.loads((run / "results.json").read_text(encoding="utf-8"))
    return {score["name"]: score for score in results["splits"]["test"]["scores"]}


def check_cell(run: Path) -> None:
    assert recipe_of(run)["model"]["cell"] == {"kind": "leaky", "bias": True, "leak": 0.8}


def check_score(run: Path) -> None:
    assert recipe_of(run)["decoder"]["attention"] == "cosine"


def check_tokenizer(run: Path) -> None:
    vocabulary = json.loads((run / "tokens" / "vocabulary.json").read_text(encoding="utf-8"))
    assert "Twice" in str(vocabulary)
    assert "chargedTwice" not in str(vocabulary)


def check_metric(run: Path) -> None:
    kappa = scores_of(run)["cohen_kappa"]
    assert kappa["low"] <= kappa["value"] <= kappa["high"]
    assert "Cohen" in kappa["how"]


def check_format(run: Path) -> None:
    assert recipe_of(run)["data"]["train"].endswith("help.tickets")
    assert recipe_of(run)["task"] == "classification"


def check_callback(run: Path) -> None:
    header, *lines = (run.parent / "losses.csv").read_text(encoding="utf-8").splitlines()
    assert header == "step,train_loss,validation"
    assert int(lines[-1].split(",")[0]) == 4


def check_task(run: Path) -> None:
    assert recipe_of(run)["task"] == "ordinal_rating"
    assert scores_of(run)["mae"]["baseline_name"] == "the median rating"


CHECKS: dict[str, Callable[[Path], None]] = {
    "leaky_cell": check_cell,
    "cosine_score": check_score,
    "identifier_tokenizer": check_tokenizer,
    "kappa_metric": check_metric,
    "ticket_format": check_format,
    "csv_callback": check_callback,
    "ordinal_rating": check_task,
}
SEVERAL = [
    "--model",
    "leaky",
    "model.cell.leak=0.8",
    "tokens.kind=identifiers",
    "evaluation.metrics=cohen_kappa",
]
"""All parts that one run can have."""
PARTS_OF_SEVERAL = [name for name in CHECKS if name not in ("cosine_score", "ordinal_rating")]


def test_every_example_has_a_command_on_the_page_and_a_check() -> None:
    assert sorted(COMMANDS) == sorted(CHECKS) == NAMES


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_the_command_on_the_page_trains_with_the_example(name: str, folder: Path) -> None:
    shutil.copy(EXAMPLES / f"{name}.py", folder)
    done = seqlab(*COMMANDS[name], *QUICK, "--out", "run", folder=folder)
    assert done.returncode == 0, done.stderr
    CHECKS[name](folder / "run")


@pytest.mark.slow
def test_a_run_needs_its_parts_again_and_says_so(folder: Path) -> None:
    plugins = [f"--plugin={EXAMPLES / name}.py" for name in ("identifier_tokenizer", "kappa_metric")]
    words = ["tokens.kind=identifiers", "evaluation.metrics=cohen_kappa"]
    trained = seqlab("train", "reviews.csv", *plugins, *words, *QUICK, "--out", "run", folder=folder)
    assert trained.returncode == 0, trained.stderr
    without = seqlab("predict", "run", "refund_me", folder=folder)
    assert without.returncode == 2
    assert "'identifiers'" in without.stderr
    assert "--plugin FILE" in without.stderr
    unscored = seqlab("evaluate", "run", plugins[0], folder=folder)
    assert unscored.returncode == 2
    assert "'cohen_kappa'" in unscored.stderr
    assert "--plugin FILE" in unscored.stderr
    again = seqlab("evaluate", "run", "--json", *plugins, folder=folder)
    assert again.returncode == 0, again.stderr
    assert json.loads(again.stdout)["scores"]["cohen_kappa"] == scores_of(folder / "run")["cohen_kappa"]


@pytest.fixture
def installed(tmp_path: Path) -> str:
    """A package with the examples, as an installer leaves it in site-packages."""
    site = tmp_path / "site"
    package, metadata = site / "my_parts", site / "my_parts-1.0.dist-info"
    shutil.copytree(EXAMPLES, package, ignore=shutil.ignore_patterns("__pycache__"))
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: my-parts\nVersion: 1.0\n")
    entries = "".join(f"{name} = my_parts.{name}\n" for name in NAMES)
    (metadata / "entry_points.txt").write_text(f"[seqlab]\n{entries}")
    return str(site)


@pytest.mark.slow
def test_an_installed_package_needs_no_option(folder: Path, installed: str) -> None:
    trained = seqlab("train", "help.tickets", *SEVERAL, *QUICK, "--out", "run", folder=folder, path=installed)
    assert trained.returncode == 0, trained.stderr
    for name in PARTS_OF_SEVERAL:
        CHECKS[name](folder / "run")
    predicted = seqlab("predict", "run", "refund_me", folder=folder, path=installed)
    assert predicted.returncode == 0, predicted.stderr
    listed = seqlab("list", "--json", folder=folder, path=installed)
    entries = json.loads(listed.stdout)
    assert entries["metrics"] == {"cohen_kappa": "Cohen's kappa of the true and the predicted classes."}
    names = {"attention": "cosine", "tokens": "identifiers", "formats": "tickets", "tasks": "ordinal_rating"}
    for kind, name in names.items():
        assert name in entries[kind]


@pytest.mark.slow
def test_a_broken_installed_package_is_named(tmp_path: Path, installed: str) -> None:
    (Path(installed) / "my_parts" / "kappa_metric.py").write_text("import no_such_module\n")
    done = seqlab("list", "metrics", folder=tmp_path, path=installed)
    assert done.returncode == 2
    for fact in ("kappa_metric", "my_parts.kappa_metric", "no_such_module"):
        assert fact in done.stderr


IN_PYTHON = """
import sys
import seqlab
from csv_callback import CsvLog
import cosine_score, identifier_tokenizer, kappa_metric, leaky_cell, ticket_format

class Recorder:
    def __init__(self):
        self.steps, self.validations = [], []
    def on_step(self, report):
        self.steps.append(report.step)
    def on_validation(self, step, validation, *, is_best):
        self.validations.append(step)

small = dict(steps=4, verbose=False, batch_size=8, threads=1, **{"model.hidden_size": 8})
first, second = Recorder(), Recorder()
run = seqlab.train("help.tickets", model="leaky", out="run", metrics=["cohen_kappa"],
                   callbacks=[first, second], **{"tokens.kind": "identifiers", "model.cell.leak": 0.8}, **small)
assert first.steps == second.steps == [1, 2, 3, 4], first.steps
assert first.validations == second.validations and first.validations[-1] == 4
assert {score.name for score in run.evaluate().scores} >= {"accuracy", "cohen_kappa"}
seqlab.train("pairs.tsv", task="translation", model="gru", out="pairs", **{"decoder.attention": "cosine"}, **small)
assert seqlab.load("pairs").predict(["mail 7"])
"""


@pytest.mark.slow
def test_parts_that_a_program_imports_are_enough(folder: Path) -> None:
    environment = {
        **os.environ,
        "SEQLAB_CACHE": str(folder / "cache"),
        "OMP_NUM_THREADS": "1",
        "PYTHONPATH": str(EXAMPLES),
    }
    done = subprocess.run(
        [sys.executable, "-c", IN_PYTHON], cwd=folder, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    for name in PARTS_OF_SEVERAL:
        CHECKS[name](folder / "run")
    check_score(folder / "pairs")
