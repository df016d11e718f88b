"""The index of the specification: marks, the report that pytest writes, and the counts."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.spec_index import Outcome, Section, index, main, proved_rows, read_rows

REPOSITORY = Path(__file__).parents[1]

SMALL = [
    Section("A", "Cells", {1: "plain cell", 2: "gated cell", 3: "no cell"}),
    Section("B", "Attention", {4: "dot score", 5: "no score"}),
]
REPORT: dict[str, Outcome] = {
    "1": {"passed": ["t::one", "t::two"], "failed": []},
    "2": {"passed": ["t::one"], "failed": ["t::three"]},
    "4": {"passed": ["t::four"], "failed": []},
    "5": {"passed": [], "failed": ["t::five", "t::six"]},
}

TRIAL = """
import pytest

@pytest.mark.spec(36, 37)
def test_good(): pass

@pytest.mark.spec(37)
def test_bad(): assert False

@pytest.mark.spec(38)
@pytest.mark.parametrize("number", [1, 2])
def test_both(number): pass

@pytest.mark.spec(39)
@pytest.mark.skip
def test_skipped(): pass

@pytest.mark.spec(40)
@pytest.mark.xfail
def test_expected_to_fail(): assert False

@pytest.mark.spec(43)
@pytest.mark.xfail
def test_passes_against_expectation(): pass

@pytest.fixture
def untidy():
    yield
    raise RuntimeError

@pytest.mark.spec(41)
def test_fails_while_cleaning_up(untidy): pass

def test_unmarked(): pass
"""


def run_trial(folder: Path, source: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """pytest in its own process, on one file, with this project's plugin and no other set-up."""
    (folder / "test_trial.py").write_text(source, encoding="utf-8")
    (folder / "pytest.ini").write_text("[pytest]\nmarkers = spec(*rows): rows\n", encoding="utf-8")
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "tests.conftest",
        "-p",
        "no:cacheprovider",
        *arguments,
        "test_trial.py",
    ]
    return subprocess.run(
        command, cwd=folder, env={"PYTHONPATH": str(REPOSITORY), "PATH": ""}, capture_output=True, text=True
    )


def test_all_rows_are_there_once_in_order() -> None:
    sections = read_rows()
    assert [section.letter for section in sections] == list("ABCDEFGHIJKLM")
    assert [number for section in sections for number in section.rows] == list(range(1, 204))
    titles = [title for section in sections for title in section.rows.values()]
    assert len(set(titles)) == 203


def test_a_row_with_a_failing_test_does_not_count() -> None:
    assert proved_rows(REPORT) == {1, 4}


def test_the_index_counts_by_section_and_lists_what_is_missing() -> None:
    assert index(SMALL, REPORT) == [
        "2 of 5 rows of the specification have a passing test.",
        "",
        "  A  Cells        1 of   3",
        "  B  Attention    1 of   2",
        "",
        "Missing:",
        "    2  gated cell  (1 failing)",
        "    3  no cell",
        "    5  no score  (2 failing)",
    ]


def test_nothing_is_listed_as_missing_when_all_is_proved() -> None:
    report: dict[str, Outcome] = {str(row): {"passed": ["t::one"], "failed": []} for row in range(1, 6)}
    assert index(SMALL, report)[-1] == "  B  Attention    2 of   2"


def test_without_a_report_the_command_says_how_to_write_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([str(tmp_path / "none.json")]) == 2
    assert "pytest --spec-report=" in capsys.readouterr().err
    assert main([]) == 2
    assert "usage" in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.parametrize("arguments", [(), ("-n", "2")], ids=["one process", "two workers"])
def test_pytest_reports_the_outcome_of_every_marked_test(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    result = run_trial(tmp_path, TRIAL, "--spec-report=report.json", *arguments)
    assert result.returncode == 1, result.stdout + result.stderr
    assert json.loads((tmp_path / "report.json").read_text(encoding="utf-8")) == {
        "36": {"passed": ["test_trial.py::test_good"], "failed": []},
        "37": {"passed": ["test_trial.py::test_good"], "failed": ["test_trial.py::test_bad"]},
        "38": {"passed": ["test_trial.py::test_both[1]", "test_trial.py::test_both[2]"], "failed": []},
        "41": {"passed": [], "failed": ["test_trial.py::test_fails_while_cleaning_up"]},
    }


@pytest.mark.slow
def test_marks_that_name_no_row_stop_the_collection(tmp_path: Path) -> None:
    marks = ["204", "0", "'36'", "36, 999", "", "'a', 1"]
    tests = [f"@pytest.mark.spec({mark})\ndef test_{number}(): pass\n" for number, mark in enumerate(marks)]
    result = run_trial(tmp_path, "import pytest\n" + "".join(tests))
    assert result.returncode == pytest.ExitCode.USAGE_ERROR
    for number in range(len(marks)):
        assert f"test_trial.py::test_{number}: " in result.stderr
    assert "@pytest.mark.spec(999,) names no row of the specification (1 to 203)." in result.stderr
