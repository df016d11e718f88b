"""Every attempt of the audit has a test of its own, which fails when the fix is taken away."""

from __future__ import annotations

import ast
import json
from collections import Counter

from tests.mutations import run
from tests.mutations.attempts import read_attempts, read_outcomes

FINDINGS = {f"{part}{number}" for part in "BD" for number in range(1, 13)}
"""The rows about attacks, and about the tests of other libraries."""
AT_LEAST = 80
"""Attempts that once did harm."""


def test_every_row_has_attempts_and_none_is_listed_twice() -> None:
    attempts = read_attempts()
    assert len(attempts) >= AT_LEAST
    assert {attempt.finding for attempt in attempts} >= FINDINGS
    for facts in ([attempt.key for attempt in attempts], [(each.finding, each.what) for each in attempts]):
        assert [fact for fact, count in Counter(facts).items() if count > 1] == []


def test_every_attempt_has_a_test() -> None:
    files = {attempt.test.partition("::")[0] for attempt in read_attempts()}
    functions = {
        f"{file}::{node.name}"
        for file in files
        for node in ast.parse((run.ROOT / file).read_text(encoding="utf-8")).body
        if isinstance(node, ast.FunctionDef)
    }
    assert {attempt.test.partition("[")[0] for attempt in read_attempts()} <= functions


def test_the_test_of_every_attempt_killed_the_mutant_that_takes_the_fix_away() -> None:
    attempts, outcomes = read_attempts(), read_outcomes()
    results = json.loads(run.RESULTS.read_text(encoding="utf-8"))["mutants"]
    killed = {entry["id"] for entry in results if entry["outcome"] == "killed"}
    assert [attempt.key for attempt in attempts if outcomes.get(attempt.key) != "killed"] == []
    assert {attempt.mutant for attempt in attempts} <= killed
    assert set(outcomes) == {attempt.key for attempt in attempts}
