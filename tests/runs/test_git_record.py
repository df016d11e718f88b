"""A run records the commit of the working directory in which it started."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

import seqlab
from seqlab.core.git_state import GitState
from seqlab.runs.folder.layout import CARD, JOURNAL, REPORT, RESULTS
from seqlab.runs.reproduce.agreement import Reproduction
from seqlab.runs.run import Run
from seqlab.runs.train import start
from seqlab.training.journal import read_journal, started_event
from tests.runs import toy_runs
from tests.runs.toy_runs import CLASSIFIER

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore::seqlab.core.errors.SeqlabWarning")]
DIRTY = GitState("3f2a1b9c" * 5, is_dirty=True)
CLEAN = GitState("0123abcd" * 5, is_dirty=False)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    folder = tmp_path_factory.mktemp("git")
    data = toy_runs.write_data("classifier", folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(start, "read_git_state", lambda: DIRTY)
        return seqlab.train(data, *CLASSIFIER, out=folder / "run", verbose=False)


def test_journal_results_card_and_report_name_the_commit(run: Run) -> None:
    recorded = {"commit": DIRTY.commit, "dirty": True}
    assert started_event(read_journal(run.folder / JOURNAL))["git"] == recorded
    assert json.loads((run.folder / RESULTS).read_text(encoding="utf-8"))["provenance"]["git"] == recorded
    for name in (CARD, REPORT):
        assert DIRTY.describe() in (run.folder / name).read_text(encoding="utf-8")


def test_a_run_outside_a_repository_records_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(start, "read_git_state", lambda: None)
    data = toy_runs.write_data("classifier", tmp_path)
    run = seqlab.train(data, *CLASSIFIER, out=tmp_path / "run", verbose=False)
    assert "git" not in run.results.raw["provenance"]
    assert "Git:" not in (run.folder / CARD).read_text(encoding="utf-8")


def test_reproduce_names_a_commit_that_differs(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(start, "read_git_state", lambda: CLEAN)
    repetition = run.reproduce(out=tmp_path / "again")
    assert repetition.git == (DIRTY, CLEAN)
    assert repetition.agrees  # the commit is a reason, not a difference
    line = next(line for line in repetition.lines() if line.startswith("git"))
    assert DIRTY.describe() in line
    assert CLEAN.describe() in line
    assert repetition.to_json()["git"] == [DIRTY.to_json(), CLEAN.to_json()]
    assert "git" in _different(repetition).verdict
    assert "git" in _different(replace(repetition, git=(DIRTY, DIRTY))).verdict
    assert "git" not in _different(replace(repetition, git=(CLEAN, CLEAN))).verdict
    assert "git" not in " ".join(replace(repetition, git=(None, CLEAN)).lines())


def _different(repetition: Reproduction) -> Reproduction:
    return replace(repetition, weight_difference=0.5)
