"""The table of mutants is consistent, and the command that tries them tells the outcomes apart."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from tests.mutations import run
from tests.mutations.mutant import Mutant
from tests.mutations.table import MUTANTS


def test_every_mutant_has_a_name_of_its_own_and_changes_something() -> None:
    assert [name for name, count in Counter(mutant.id for mutant in MUTANTS).items() if count > 1] == []
    assert [mutant.id for mutant in MUTANTS if mutant.old == mutant.new or not mutant.old.strip()] == []


def test_what_is_known_to_survive_is_what_survived_last_time() -> None:
    results = json.loads(run.RESULTS.read_text(encoding="utf-8"))
    assert set(results["survivors"]) == {mutant.id for mutant in MUTANTS if mutant.survives_today}
    assert {entry["id"] for entry in results["mutants"]} == {mutant.id for mutant in MUTANTS}


@pytest.mark.slow
def test_a_mutant_is_killed_survives_or_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    package = tmp_path / "project" / "src" / "seqlab"
    package.mkdir(parents=True)
    (package / "__init__.py").touch()
    (package / "sums.py").write_text("def add(a: int, b: int) -> int:\n    return a + b\n")
    (package.parent.parent / "tests").mkdir()
    (package.parent.parent / "tests" / "test_sums.py").write_text(
        "import sys\nsys.path.insert(0, 'src')\nfrom seqlab.sums import add\n\ndef test_adds():\n    assert add(2, 2) == 4\n"
    )
    mutants = [
        Mutant("minus", "sums.py", "a + b", "a - b", "tests/test_sums.py", "It subtracts."),
        Mutant(
            "times", "sums.py", "a + b", "a * b", "tests/test_sums.py", "It multiplies.", survives_today=True
        ),
        Mutant("moved", "sums.py", "a + c", "a - c", "tests/test_sums.py", "The snippet is gone."),
        Mutant(
            "untested", "sums.py", "a + b", "a - b", "tests/test_sums.py -k nothing", "No test is chosen."
        ),
    ]
    monkeypatch.setattr(run, "ROOT", tmp_path / "project")
    monkeypatch.setattr(run, "RESULTS", tmp_path / "project" / "results.json")
    monkeypatch.setattr(run, "MUTANTS", mutants)
    assert run.main(["--check"]) == 1
    assert "moved" in capsys.readouterr().out
    assert run.main([]) == 1
    found = json.loads((tmp_path / "project" / "results.json").read_text())
    assert {entry["id"]: entry["outcome"] for entry in found["mutants"]} == {
        "minus": "killed", "times": "survived", "moved": "missing", "untested": "broken",
    }  # fmt: skip
    assert (package / "sums.py").read_text().endswith("return a + b\n")  # the working tree stays as it was
    assert run.main(["minus"]) == 0
    assert len(json.loads((tmp_path / "project" / "results.json").read_text())["mutants"]) == 4
    with pytest.raises(SystemExit):
        run.main(["nobody"])
