"""The table of mutants is consistent, and the command that tries them tells the outcomes apart."""

from __future__ import annotations

import json
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.mutations import run
from tests.mutations.mutant import Mutant
from tests.mutations.snippet import SnippetError, apply
from tests.mutations.table import MUTANTS


def test_every_mutant_has_a_name_of_its_own_and_changes_something() -> None:
    assert [name for name, count in Counter(mutant.id for mutant in MUTANTS).items() if count > 1] == []
    assert [mutant.id for mutant in MUTANTS if mutant.old == mutant.new or not mutant.old.strip()] == []


def test_what_is_known_to_survive_is_what_survived_last_time() -> None:
    results = json.loads(run.RESULTS.read_text(encoding="utf-8"))
    assert set(results["survivors"]) == {mutant.id for mutant in MUTANTS if mutant.survives_today}
    assert {entry["id"] for entry in results["mutants"]} == {mutant.id for mutant in MUTANTS}


SUMS = "class Sums:\n    def add(self, a, b):\n        total = (\n            a\n            + b\n        )\n        return total\n"


def test_a_snippet_is_found_in_any_module_of_a_folder_whatever_its_formatting(tmp_path: Path) -> None:
    (tmp_path / "math" / "deep").mkdir(parents=True)
    (tmp_path / "math" / "other.py").write_text("total = 1\n")
    (tmp_path / "math" / "deep" / "sums.py").write_text(SUMS)
    mutant = Mutant("", "math", "total = (a + b)", "total = a\nif b:\n    total -= b", "", "")
    file, text = apply(mutant, tmp_path)
    assert file == tmp_path / "math" / "deep" / "sums.py"
    scope: dict[str, Any] = {}
    exec(text, scope)
    assert scope["Sums"]().add(5, 3) == 2


@pytest.mark.parametrize(
    ("old", "new", "match"),
    [
        ("total", "sum", "occurs 3 times"),
        ("tot", "sum", "occurs 0 times"),
        ("return total", "return (", "does not compile"),
    ],
)
def test_a_mutant_that_cannot_be_applied_says_why(tmp_path: Path, old: str, new: str, match: str) -> None:
    (tmp_path / "a.py").write_text(SUMS)
    (tmp_path / "b.py").write_text("total = 1\n")
    with pytest.raises(SnippetError, match=match):
        apply(Mutant("", ".", old, new, "", ""), tmp_path)


@pytest.mark.slow
def test_the_outcomes_of_mutants_are_told_apart(
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
        Mutant("nameless", "sums.py", "a + b", "a + d", "tests/test_sums.py", "There is no d."),
        Mutant("unfinished", "sums.py", "a + b", "a + (b", "tests/test_sums.py", "It does not compile."),
        Mutant(
            "untested", "sums.py", "a + b", "a - b", "tests/test_sums.py -k nothing", "No test is chosen."
        ),
    ]
    monkeypatch.setattr(run, "ROOT", tmp_path / "project")
    monkeypatch.setattr(run, "RESULTS", tmp_path / "project" / "results.json")
    monkeypatch.setattr(run, "MUTANTS", mutants)
    assert run.main(["--check"]) == 1
    listed = capsys.readouterr().out
    assert "moved" in listed
    assert "unfinished" in listed
    assert run.main([]) == 1
    found = json.loads((tmp_path / "project" / "results.json").read_text())
    assert {entry["id"]: entry["outcome"] for entry in found["mutants"]} == {
        "minus": "killed", "times": "survived", "moved": "missing", "nameless": "invalid",
        "unfinished": "invalid", "untested": "broken",
    }  # fmt: skip
    assert (package / "sums.py").read_text().endswith("return a + b\n")  # the working tree stays as it was
    assert run.main(["minus"]) == 0
    assert len(json.loads((tmp_path / "project" / "results.json").read_text())["mutants"]) == 6
    with pytest.raises(SystemExit):
        run.main(["nobody"])


def test_tests_that_do_not_end_are_not_taken_for_a_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def endless(*_: object, limit: float, **__: object) -> None:
        raise subprocess.TimeoutExpired("pytest", limit)

    (tmp_path / "src" / "seqlab").mkdir(parents=True)
    (tmp_path / "src" / "seqlab" / "a.py").write_text("a = 1\n")
    monkeypatch.setattr(run, "ROOT", tmp_path)
    monkeypatch.setattr(run, "RESULTS", tmp_path / "results.json")
    monkeypatch.setattr(run, "MUTANTS", [Mutant("endless", "a.py", "1", "2", "tests", "")])
    monkeypatch.setattr(run, "run_pytest", endless)
    assert run.main(["--limit", "7"]) == 1
    assert "timeout  endless: no end after 7 s" in capsys.readouterr().out
