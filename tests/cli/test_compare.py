"""seqlab compare and seqlab train --seeds, as a user types them."""

from __future__ import annotations

from pathlib import Path

import pytest

from seqlab.runs.run import Run
from tests.cli.running import run

pytestmark = pytest.mark.slow  # trainings and commands: short each, long together


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["compare", "runs/a"], "a comparison needs two runs"),
        (
            ["compare", "a", "b", "--seeds", "3"],
            "--minutes, --seeds and --task apply only to",
        ),
        (["compare", "a.csv", "--models", "gru,cnn", "--data", "b.csv"], "--data applies to finished runs"),
        (["compare", "missing.csv", "--models", "gru,cnn"], "there is no such file or folder"),
        (
            ["compare", "languages", "--models", "gru,cnn", "--against", "lstm"],
            "--against: 'lstm'",
        ),
        (["compare", "languages", "--models", "lstmm,cnn"], "--models: there is no model called 'lstmm'"),
        (["train", "languages", "--seeds", "1"], "--seeds 1 "),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_mistakes_are_answered_with_words(
    words: list[str],
    told: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    ended = run(capsys, *words)
    assert ended.code == 2
    assert told in ended.err


def test_all_unknown_models_are_reported_at_once(capsys: pytest.CaptureFixture[str]) -> None:
    words = ("--models", "lstmm,gruu,cnn", "training.stepz=1", "model.kernel_size=3")
    ended = run(capsys, "compare", "languages", *words)
    assert ended.code == 2
    for fact in (
        "3 mistakes",
        "--models: there is no model called 'lstmm'",
        "called 'gruu'",
        "training.stepz",
    ):
        assert fact in ended.err
    assert "kernel_size" not in ended.err


def test_runs_of_different_tasks_are_refused(
    reviews_run: Run, story_run: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    ended = run(capsys, "compare", str(reviews_run.folder), str(story_run.folder))
    assert ended.code == 2
    assert "the runs have different tasks (my reviews: classification, story: language_model)" in ended.err


@pytest.mark.slow
def test_two_runs_become_a_table_an_answer_and_a_page(
    reviews_run: Run,
    reviews_csv: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    weak = run(
        capsys,
        "train",
        str(reviews_csv),
        "--out",
        "weak",
        "--model",
        "gru",
        "training.steps=1",
        "training.threads=1",
        "-q",
    )
    assert weak.code == 0, weak.err
    ended = run(capsys, "compare", str(reviews_run.folder), "weak")
    assert ended.code == 0, ended.err
    lines = ended.out.splitlines()
    table = lines[: lines.index("settings that differ:")]
    assert [line.split()[:1] for line in table[:3]] == [["run"], ["model"], ["accuracy"]]  # runs side by side
    assert max(map(len, table)) <= 80
    assert {"model", "accuracy", "baseline", "parameters"} <= {line.split()[0] for line in table}
    assert ["training.steps", "40", "1"] in [line.split() for line in lines]
    assert "McNemar's test p = " in ended.out
    first = Path("runs/compared/compare.html")
    written = first.read_text()
    assert "Different settings" in written
    found = run(capsys, "compare", str(reviews_run.folder), "weak", "--json").json
    assert found["reference"] == "my reviews"
    assert found["differences"]["accuracy"]["weak"]["sentence"] in ended.out
    assert found["page"] == "runs/compared/compare-2.html"
    assert first.read_text() == written
    assert {"setting": "training.steps", "my reviews": "40", "weak": "1"} in found["settings"]
    # runs/* names the folder of the pages too
    again = run(capsys, "compare", str(reviews_run.folder), "weak", "runs/compared")
    assert again.code == 0, again.err
    assert "runs/compared/compare-3.html" in again.out


def test_slices_stand_in_the_evaluation_and_in_the_report(
    reviews_run: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    ended = run(capsys, "evaluate", str(reviews_run.folder), "--json")
    cuts = ended.json["sections"]["slices"]["cuts"]
    for cut in cuts:
        assert sum(part["count"] for part in cut["parts"]) == ended.json["sections"]["facts"]["examples"]
        assert all(part["low"] <= part["value"] <= part["high"] for part in cut["parts"])
    assert ("Scores on slices of the data" in (reviews_run.folder / "report.html").read_text()) == bool(cuts)
