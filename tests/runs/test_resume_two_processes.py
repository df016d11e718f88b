"""Two processes, one folder: the second is told who the first is."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from seqlab.core.errors import EnvironmentProblem, RunError
from seqlab.runs.folder.layout import new_folder
from seqlab.runs.folder.lock import locked
from tests.runs import toy_runs
from tests.runs.toy_runs import CLASSIFIER, finish, spawn, start, wait


def hold(folder: Path) -> None:
    with locked(folder):
        (folder / "held").touch()
        time.sleep(60)


def test_the_second_is_refused_with_the_process_and_the_cure(tmp_path: Path) -> None:
    process = spawn(hold, tmp_path)
    try:
        while not (tmp_path / "held").exists():
            time.sleep(0.005)
        with pytest.raises(RunError) as caught, locked(tmp_path):
            pass
    finally:
        process.kill()
        wait(process)
    assert f"{tmp_path}: process {process.pid} is training in this folder." in str(caught.value)
    assert f"kill {process.pid}" in caught.value.cure
    with locked(tmp_path):  # the lock of a process that was killed does not block
        assert (tmp_path / ".lock-owner").read_text(encoding="ascii") == str(os.getpid())


@pytest.mark.parametrize("content", ["", "999999999", "x" * 1000, "\x00"])
def test_a_lock_file_that_nobody_holds_does_not_block(content: str, tmp_path: Path) -> None:
    (tmp_path / ".lock").write_text(content, encoding="utf-8")
    with locked(tmp_path):
        assert (tmp_path / ".lock-owner").read_text(encoding="ascii") == str(os.getpid())


def test_a_lock_file_that_is_a_link_is_not_followed(tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("precious", encoding="utf-8")
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / ".lock").symlink_to(victim)
    with pytest.raises(EnvironmentProblem, match="cannot be written to"), locked(tmp_path / "run"):
        pass
    assert victim.read_text(encoding="utf-8") == "precious"


@pytest.mark.parametrize("owner", [None, "", "not a number"])
def test_a_process_that_did_not_say_who_it_is_still_blocks(owner: str | None, tmp_path: Path) -> None:
    from seqlab.core.locks import lock_file

    if owner is not None:
        (tmp_path / ".lock-owner").write_text(owner, encoding="ascii")
    with lock_file(tmp_path / ".lock", wait=False, cure="") as is_mine:
        assert is_mine
        with pytest.raises(RunError, match="another process is training") as caught, locked(tmp_path):
            pass
    assert "--out" in caught.value.cure
    assert "kill" not in caught.value.cure


def test_a_folder_that_is_not_there_is_said_in_words(tmp_path: Path) -> None:
    with (
        pytest.raises(EnvironmentProblem, match="the folder cannot be written to"),
        locked(tmp_path / "none"),
    ):
        pass


def test_what_killed_writers_left_is_swept_away_and_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "checkpoints" / "tmp-7-123").mkdir(parents=True)
    (tmp_path / "checkpoints" / "step-000000007").mkdir()
    for name in (".model.safetensors.1.tmp", "journal.jsonl", "notes.tmp", "checkpoints/.last.9"):
        (tmp_path / name).touch()
    with locked(tmp_path):
        pass
    left = sorted(str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*"))
    kept = ["checkpoints", "checkpoints/step-000000007", "journal.jsonl", "notes.tmp"]
    assert left == [".lock", ".lock-owner", *kept]


def test_a_start_that_was_killed_before_its_first_step_can_be_made_again(tmp_path: Path) -> None:
    (tmp_path / "run" / "tokens").mkdir(parents=True)
    for name in (".lock", ".lock-owner", "MANIFEST.json", "journal.jsonl", ".recipe.toml.5.tmp"):
        (tmp_path / "run" / name).touch()
    assert new_folder(str(tmp_path / "run"), name="x") == tmp_path / "run"


@pytest.mark.parametrize(
    ("names", "words"),
    [
        (["notes.txt"], "exists and is not a run"),
        (["tokens"], "exists and is not a run"),
        ([".lock", "notes.txt"], "exists and is not a run"),
        (["recipe.toml"], "already contains a run"),
    ],
)
def test_a_folder_with_other_things_is_never_taken(names: list[str], words: str, tmp_path: Path) -> None:
    for name in names:
        (tmp_path / name).touch()
    with pytest.raises(RunError, match=words):
        new_folder(str(tmp_path), name="x")


def start_late(data: Path, folder: Path) -> None:
    """Choose the folder while it is free, and come when somebody else has finished a run in it."""
    from seqlab.runs.train import prepare as module

    prepare = module.prepare

    def prepare_then_wait(*arguments: object, **options: object) -> object:
        prepared = prepare(*arguments, **options)
        (folder.parent / "prepared").touch()
        while not (
            folder.parent / "finished"
        ).exists():  # and not only its last file: until its end the other holds the lock
            time.sleep(0.01)
        return prepared

    module.prepare = prepare_then_wait
    try:
        start(data, folder, CLASSIFIER)
    except RunError as error:
        sys.exit(9 if "already contains a run" in str(error) else 1)


@pytest.mark.slow
def test_a_run_that_was_finished_meanwhile_is_not_written_over(tmp_path: Path) -> None:
    data = toy_runs.write_data("classifier", tmp_path)
    late = spawn(start_late, data, tmp_path / "run")
    while not (tmp_path / "prepared").exists():
        time.sleep(0.01)
    assert finish(start, data, tmp_path / "run", CLASSIFIER) == 0
    before = toy_runs.fingerprint(tmp_path / "run")
    (tmp_path / "finished").touch()
    assert wait(late) == 9
    assert toy_runs.fingerprint(tmp_path / "run") == before


@pytest.mark.slow
def test_the_command_line_refuses_with_code_2(tmp_path: Path) -> None:
    data = toy_runs.write_data("classifier", tmp_path)
    assert finish(start, data, tmp_path / "run", CLASSIFIER) == 0
    with locked(tmp_path / "run"):
        command = [sys.executable, "-m", "seqlab.cli.main", "train", "--resume", str(tmp_path / "run")]
        second = subprocess.run(command, capture_output=True, text=True)
    assert second.returncode == 2
    assert f"process {os.getpid()} is training in this folder." in second.stderr
