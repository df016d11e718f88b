"""The commit that a run was trained at, by git itself."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from seqlab.core import git_state
from seqlab.core.git_state import GitState, read_git_state

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="needs git")


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"):  # set inside a hook
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    monkeypatch.chdir(tmp_path)
    git("init", "-q")
    (tmp_path / "model.py").write_text("hidden_size = 8\n", encoding="utf-8")
    return tmp_path


def git(*arguments: str) -> str:
    author = ("-c", "user.name=A", "-c", "user.email=a@b.c", "-c", "commit.gpgsign=false")
    command = ["git", *author, *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def commit() -> str:
    git("add", "model.py")
    git("commit", "-q", "-m", "A model")
    return git("rev-parse", "HEAD")


def test_the_commit_is_the_head(repository: Path) -> None:
    head = commit()
    assert read_git_state() == GitState(head, is_dirty=False)


def test_a_changed_file_is_dirty_and_an_untracked_one_is_not(repository: Path) -> None:
    head = commit()
    (repository / "runs").mkdir()
    (repository / "runs" / "model.safetensors").write_bytes(b"weights")
    assert read_git_state() == GitState(head, is_dirty=False)
    (repository / "model.py").write_text("hidden_size = 16\n", encoding="utf-8")
    assert read_git_state() == GitState(head, is_dirty=True)
    git("add", "model.py")
    assert read_git_state() == GitState(head, is_dirty=True)


def test_a_folder_inside_the_repository_has_its_commit(
    repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    head = commit()
    (repository / "experiments").mkdir()
    monkeypatch.chdir(repository / "experiments")
    assert read_git_state() == GitState(head, is_dirty=False)


def test_there_is_no_state_before_the_first_commit(repository: Path) -> None:
    assert read_git_state() is None


def test_there_is_no_state_outside_a_repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    monkeypatch.chdir(tmp_path)
    assert read_git_state() is None


def test_there_is_no_state_without_git(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    commit()
    monkeypatch.setattr(shutil, "which", lambda _: None)
    assert read_git_state() is None


def test_a_status_that_takes_too_long_is_not_recorded(
    repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    commit()
    monkeypatch.setattr(git_state, "SECONDS", 1e-6)
    assert read_git_state() is None


def test_a_program_that_a_repository_configures_is_not_started(repository: Path) -> None:
    commit()
    script = repository / "monitor.sh"
    script.write_text(f"#!/bin/sh\ntouch '{repository / 'started'}'\n", encoding="utf-8")
    script.chmod(0o755)
    git("config", "core.fsmonitor", str(script))
    git("status")
    assert (repository / "started").exists()
    (repository / "started").unlink()
    assert read_git_state() is not None
    assert not (repository / "started").exists()


@pytest.mark.parametrize("value", [None, "3f2a", {}, {"commit": 3}, {"commit": "<b>"}])
def test_a_record_of_another_shape_is_no_state(value: object) -> None:
    assert GitState.from_json(value) is None


def test_a_state_survives_json() -> None:
    state = GitState("4b825dc642cb6eb9a060e54bf8d69288fbee4904", is_dirty=True)
    assert GitState.from_json(state.to_json()) == state
