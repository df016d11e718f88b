"""Closed and full standard streams: no answer is lost with exit code 0, and no message ends up among the answers.

A shell sets up the descriptors, since Python must find them as they are when it starts.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from seqlab.runs.run import Run
from tests.run_alone import REPOSITORY

pytestmark = pytest.mark.slow  # every test starts a process


def run_with(redirection: str, *words: str, folder: Path) -> tuple[int, str, str]:
    """Exit code, standard output and standard error of `seqlab WORDS REDIRECTION`."""
    arguments = ["sh", "-c", f'exec "$0" "$@" {redirection}', sys.executable, "-m", "seqlab.cli.main", *words]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": str(REPOSITORY / "src")}
    done = subprocess.run(
        arguments,
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert "Traceback" not in done.stderr, done.stderr
    assert "Exception ignored" not in done.stderr, done.stderr
    return done.returncode, done.stdout, done.stderr


@pytest.fixture
def commands(reviews_run: Run, story_run: Run, tmp_path: Path) -> dict[str, list[str]]:
    reviews, story = str(reviews_run.folder), str(story_run.folder)
    rows = "".join(f"a {('good', 'bad')[n % 2]} film {n},{n % 2}\n" for n in range(60))
    (tmp_path / "notes.csv").write_text(f"text,label\n{rows}", encoding="utf-8")
    small = ["training.steps=1", "training.batch_size=4", "model.hidden_size=4", "training.threads=1"]
    return {
        "explain": ["explain", "training"],
        "list": ["list"],
        "help": ["--help"],
        "predict": ["predict", reviews, "good", "bad"],
        "evaluate": ["evaluate", reviews],
        "generate": ["generate", story, "--tokens", "5"],
        "compare": ["compare", reviews, shutil.copytree(reviews, str(tmp_path / "second"), symlinks=True)],
        "data": ["data", "notes.csv"],
        "train": ["train", "notes.csv", "--out", "trained", *small],
    }


LONGER = ("list", "help", "predict", "evaluate", "generate", "compare", "data", "train")
STATES = {"full": (">/dev/full", "No space left"), "closed": (">&-", "closed")}


@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize(
    "command", ["explain", *(pytest.param(name, marks=pytest.mark.long) for name in LONGER)]
)
def test_an_answer_that_cannot_be_written_is_exit_code_three_and_a_sentence(
    command: str, state: str, commands: dict[str, list[str]], tmp_path: Path
) -> None:
    redirection, reason = STATES[state]
    code, _, err = run_with(redirection, *commands[command], folder=tmp_path)
    assert code == 3
    assert "standard output" in err
    assert reason in err


def test_questions_from_a_closed_standard_input_are_exit_code_three(reviews_run: Run, tmp_path: Path) -> None:
    code, out, err = run_with("<&-", "predict", str(reviews_run.folder), folder=tmp_path)
    assert (code, out) == (3, "")
    assert "standard input is closed" in err
    assert "--file" in err


@pytest.mark.parametrize("redirection", ["2>&-", "2>/dev/full"])
def test_a_mistake_that_cannot_be_told_does_not_appear_among_the_answers(
    redirection: str, tmp_path: Path
) -> None:
    code, out, _ = run_with(redirection, "explain", "wheels", folder=tmp_path)
    assert (code, out) == (2, "")


@pytest.mark.long
@pytest.mark.parametrize("redirection", ["2>&-", "2>/dev/full"])
def test_training_goes_on_without_standard_error_and_the_exit_code_tells(
    redirection: str, commands: dict[str, list[str]], tmp_path: Path
) -> None:
    code, out, _ = run_with(redirection, *commands["train"], "--json", folder=tmp_path)
    assert code == 3
    assert out.count("\n") == 1
    assert json.loads(out)["run"] == "trained"
    assert Run.load(tmp_path / "trained").results


@pytest.mark.long
def test_the_answers_of_predict_are_complete_without_standard_error(
    commands: dict[str, list[str]], tmp_path: Path
) -> None:
    _, expected, _ = run_with("", *commands["predict"], folder=tmp_path)
    assert expected.count("\n") == 2
    assert run_with("2>&-", *commands["predict"], folder=tmp_path)[:2] == (3, expected)
