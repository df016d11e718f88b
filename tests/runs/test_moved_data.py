"""A run whose data was moved is resumed from the new place, if the content is the same; folders are numbered
while others train.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from seqlab.core.errors import RunError, SeqlabError
from seqlab.recipes.read import check
from seqlab.runs.folder.layout import claim_folder
from seqlab.runs.train.prepare import prepare
from seqlab.runs.train.start import resume, train
from tests.cli.running import run as command
from tests.runs import toy_runs
from tests.runs.toy_runs import CLASSIFIER, finish, start

pytestmark = pytest.mark.slow  # trainings: short each


def test_moved_data_is_found_again_by_its_new_name(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = toy_runs.write_data("classifier", tmp_path)
    assert finish(start, data, tmp_path / "run", CLASSIFIER) == 0
    scores = json.loads((tmp_path / "run" / "results.json").read_text(encoding="utf-8"))["splits"]
    (tmp_path / "elsewhere").mkdir()
    moved = data.rename(tmp_path / "elsewhere" / "renamed.csv")
    with pytest.raises(SeqlabError, match="no such file") as caught:
        resume(tmp_path / "run")
    assert "data.train=FILE" in caught.value.cure
    outcome = command(capsys, "train", "--resume", str(tmp_path / "run"), f"data.train={moved}")
    assert outcome.code == 0, outcome.err
    assert json.loads((tmp_path / "run" / "results.json").read_text(encoding="utf-8"))["splits"] == scores
    moved.write_bytes(moved.read_bytes().replace(b"low", b"mid"))
    with pytest.raises(RunError, match="has changed since the run started"):
        resume(tmp_path / "run", data={"train": str(moved)})


def test_other_settings_are_not_taken_by_a_resume(capsys: pytest.CaptureFixture[str]) -> None:
    outcome = command(capsys, "train", "--resume", "runs/x", "data.train=a.csv", "training.steps=9")
    assert outcome.code == 2
    assert "--resume accepts no other settings" in outcome.err


def test_a_folder_that_another_process_took_meanwhile_gets_the_next_number(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert [claim_folder(Path("runs/a")).name for _ in range(3)] == ["a", "a-2", "a-3"]


def test_a_second_training_of_the_same_file_takes_the_next_number(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    data = toy_runs.write_data("classifier", tmp_path)
    small = {"steps": 1, "batch_size": 4, "threads": 1}
    model = {"kind": "recurrent", "hidden_size": 4}
    recipe = check({"data": {"train": str(data)}, "training": small, "model": model}, where="")
    first, second = (prepare(recipe) for _ in range(2))
    assert first.folder == second.folder  # both were planned before either began
    said: list[str] = []
    names = [train(prepared, on_stage=said.append).folder.name for prepared in (first, second)]
    assert names == [first.folder.name, f"{first.folder.name}-2"]
    assert any(f"{first.folder}-2" in line for line in said)


def test_a_taken_place_is_refused_before_the_data_is_read(tmp_path: Path) -> None:
    data = toy_runs.write_data("classifier", tmp_path)
    (tmp_path / "taken").mkdir()
    (tmp_path / "taken" / "recipe.toml").write_text("", encoding="utf-8")
    said: list[str] = []
    recipe = check({"data": {"train": str(data)}}, where="")
    with pytest.raises(RunError, match="taken"):
        prepare(recipe, out=str(tmp_path / "taken"), on_stage=said.append)
    assert said == []
