"""`@pytest.mark.spec(57, 58)`: which rows of the specification a test proves, and the report about them."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

import pytest

from tests.spec_index import Outcome, read_rows

PROPERTY = "spec"


def check_marks(items: Iterable[pytest.Item]) -> None:
    """Refuse marks that name no row, and let each test carry its rows into its reports (also from worker
    processes).
    """
    known = {number for section in read_rows() for number in section.rows}
    mistakes = []
    for item in items:
        rows = list(dict.fromkeys(row for mark in item.iter_markers("spec") for row in mark.args))
        unknown = [row for row in rows if row not in known]
        if unknown or any(not mark.args for mark in item.iter_markers("spec")):
            mistakes.append(
                f"{item.nodeid}: @pytest.mark.spec{tuple(unknown)} names no row of the specification (1 to"
                f" {max(known)})."
            )
        elif rows:
            item.user_properties.append((PROPERTY, rows))
    if mistakes:
        raise pytest.UsageError("\n".join(mistakes))


class SpecReport:
    """Gathers the outcome of every marked test and writes it at the end: {row: {"passed": [ids], "failed":
    [ids]}}.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.passed: dict[str, list[int]] = {}
        self.failed: dict[str, list[int]] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        rows = dict(report.user_properties).get(PROPERTY)
        if not isinstance(rows, list):
            return
        if report.failed:
            self.failed[report.nodeid] = rows
        elif report.when == "call" and report.passed and not hasattr(report, "wasxfail"):
            self.passed[report.nodeid] = rows

    def pytest_sessionfinish(self) -> None:
        # A test that passed and then failed while cleaning up has failed.
        passed = {test: rows for test, rows in self.passed.items() if test not in self.failed}
        outcomes: dict[int, Outcome] = {}
        for row in sorted({row for rows in (passed | self.failed).values() for row in rows}):
            outcomes[row] = {"passed": _tests_of(row, passed), "failed": _tests_of(row, self.failed)}
        self.path.write_text(json.dumps(outcomes, indent=1) + "\n", encoding="utf-8")


def _tests_of(row: int, tests: dict[str, list[int]]) -> list[str]:
    return sorted(test for test, rows in tests.items() if row in rows)
