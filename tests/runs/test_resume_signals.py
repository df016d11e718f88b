"""Ctrl-C and a polite kill save, say how to go on, and change nothing."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from seqlab.training.journal import read_journal
from tests.runs import toy_runs
from tests.runs.toy_runs import CLASSIFIER, fingerprint, finish, go_on, start

LONG = [*CLASSIFIER, "training.steps=400", "training.evaluate_every=90", "training.threads=1"]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory, cache_folder: Path) -> Path:
    folder = tmp_path_factory.mktemp("whole")
    assert finish(start, toy_runs.write_data("classifier", folder), folder / "run", LONG) == 0
    return folder


@pytest.mark.slow
@pytest.mark.parametrize(
    "number",
    [
        pytest.param(signal.SIGINT, id="ctrl-c"),
        pytest.param(signal.SIGTERM, id="kill", marks=pytest.mark.long),
    ],
)
def test_a_signal_saves_and_says_how_to_go_on(number: signal.Signals, whole: Path, tmp_path: Path) -> None:
    data, folder = whole / "notes.csv", tmp_path / "run"
    command = [sys.executable, "-m", "seqlab.cli.main", "train", str(data), *LONG, "--out", str(folder)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    while not any(event["step"] >= 12 for event in read_journal(folder / "journal.jsonl")):
        assert process.poll() is None, process.communicate()
        time.sleep(0.005)
    process.send_signal(number)
    output, messages = process.communicate(timeout=30)
    assert process.returncode == 130, messages
    assert output == ""
    assert messages.rstrip().splitlines()[-1] == f"  seqlab train --resume {folder}"
    last = read_journal(folder / "journal.jsonl")[-1]
    assert last["event"] == "interrupted"
    assert f"Stopped and saved after step {last['step']}." in messages
    assert toy_runs.newest_checkpoint(folder).name == f"step-{last['step']:09d}"
    assert 12 <= last["step"] < 400
    assert finish(go_on, data, folder, LONG) == 0
    assert fingerprint(folder) == fingerprint(whole / "run")


def stop_while_scoring(number: int, data: Path, folder: Path) -> None:
    from seqlab.runs.train.start import Interrupted
    from seqlab.tasks.classification.evaluator import ClassificationEvaluator

    def evaluate(*_: object) -> None:
        os.kill(os.getpid(), number)
        time.sleep(30)

    ClassificationEvaluator.evaluate = evaluate
    try:
        start(data, folder, CLASSIFIER)
    except Interrupted as stopped:
        sys.exit(100 + stopped.step)


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=["ctrl-c", "kill"])
def test_a_signal_while_scoring_loses_nothing_either(number: signal.Signals, tmp_path: Path) -> None:
    data = toy_runs.write_data("classifier", tmp_path)
    assert (
        finish(stop_while_scoring, int(number), data, tmp_path / "run") == 117
    )  # after the last of 17 steps
    assert finish(go_on, data, tmp_path / "run", CLASSIFIER) == 0
    assert finish(start, data, tmp_path / "whole", CLASSIFIER) == 0
    assert fingerprint(tmp_path / "run") == fingerprint(tmp_path / "whole")
