"""Networks for pictures learn the built-in digits, from the words of a command to the run that is loaded
again.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from seqlab.datasets.digits import Digits
from seqlab.runs.run import Run
from tests.cli.running import run

pytestmark = pytest.mark.slow  # trainings and commands: short each, long together

SHORT = ["training.steps=2", "training.threads=1", "model.hidden_size=8"]


def accuracy(folder: Path) -> float:
    scores = json.loads((folder / "results.json").read_text(encoding="utf-8"))["splits"]["test"]["scores"]
    return float(scores[0]["value"])


@pytest.mark.spec(174)
@pytest.mark.parametrize(
    "model", ["cnn2d", *(pytest.param(model, marks=pytest.mark.long) for model in ("vit", "non_local"))]
)
def test_a_short_name_trains_on_the_digits_and_the_run_answers(
    model: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(capsys, "train", "digits", "--model", model, *SHORT, "--out", str(tmp_path / "run")).code == 0
    loaded = Run.load(tmp_path / "run")
    row = next(iter(Digits().splits()["test"].rows()))
    (prediction,) = loaded.predict([row.values["steps"]], top=10)
    assert sum(share for _, share in prediction.ranking) == pytest.approx(1.0)
    assert (
        len(set(loaded.codec.inputs.scale.mean.tolist())) == 1
    )  # a task of numbers: one scale for all pixels


def test_a_patch_size_that_does_not_fit_is_told_before_training(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = run(
        capsys, "train", "digits", "--model", "vit", "model.patch_size=3", "--out", str(tmp_path / "run")
    )
    assert found.code == 2
    assert all(fact in found.err for fact in ("model.patch_size", "8 × 8", "3 × 3", "1, 2, 4, 8"))


def test_text_is_no_picture(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    notes = tmp_path / "notes.csv"
    rows = [f"note {number} says so,{'yes' if number % 3 else 'no'}\n" for number in range(80)]
    notes.write_text("text,label\n" + "".join(rows), encoding="utf-8")
    found = run(capsys, "train", str(notes), "--model", "cnn2d", "--out", str(tmp_path / "run"))
    assert found.code == 2
    assert all(fact in found.err for fact in ("numeric steps", "token", "model.kind=transformer"))


@pytest.mark.long
@pytest.mark.spec(138, 174)
@pytest.mark.parametrize(
    ("model", "words", "at_least"), [("vit", [], 0.97), ("non_local", ["training.epochs=15"], 0.98)]
)
def test_digits_are_told_apart(
    model: str, words: list[str], at_least: float, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert (
        run(
            capsys,
            "train",
            "digits",
            "--model",
            model,
            *words,
            "training.threads=1",
            "--out",
            str(tmp_path / "run"),
        ).code
        == 0
    )
    assert accuracy(tmp_path / "run") >= at_least
