"""`seqlab train --resume` without a run."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from seqlab.cli.unfinished import newest_unfinished, with_run_to_resume
from tests.cli.running import run as type_command


def make_run(name: str, *, age: int, is_scored: bool) -> None:
    folder = Path("runs") / name
    folder.mkdir(parents=True)
    (folder / "recipe.toml").touch()
    os.utime(folder / "recipe.toml", (1e9 - age, 1e9 - age))
    if is_scored:
        (folder / "results.json").touch()


@pytest.fixture(autouse=True)
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_the_newest_run_without_results_is_meant() -> None:
    make_run("old", age=300, is_scored=False)
    make_run("stopped", age=200, is_scored=False)
    make_run("done", age=100, is_scored=True)
    assert newest_unfinished() == str(Path("runs") / "stopped")
    stopped = str(Path("runs") / "stopped")
    assert with_run_to_resume(["train", "--resume"]) == ["train", "--resume", stopped]
    assert with_run_to_resume(["train", "--resume", "--json"]) == ["train", "--resume", stopped, "--json"]


def test_other_commands_stay_as_they_are() -> None:
    for words in (["train", "a.csv"], ["predict", "r", "--resume"], ["train", "--resume", "x"], []):
        assert with_run_to_resume(words) == words


def test_without_such_a_run_it_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    make_run("done", age=100, is_scored=True)
    outcome = type_command(capsys, "train", "--resume")
    assert outcome.code == 2
    assert "--resume" in outcome.err
    assert "seqlab list runs" in outcome.err
