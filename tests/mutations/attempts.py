"""python -m tests.mutations.attempts [FINDING…]: run the test of every attempt in attempts.toml against the mutant that takes the fix away.

A mutant that some test of its list kills says little about one attempt among many. Here each attempt has to be noticed by its own test. A mutant
is made once, all tests of its attempts run, and the outcome of each (`run.py` explains them) is written to attempts.json. With --missing only
those are tried that are not recorded as killed.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from tests.mutations import run
from tests.mutations.mutant import Mutant
from tests.mutations.table import MUTANTS

ATTEMPTS = Path(__file__).parent / "attempts.toml"
OUTCOMES = Path(__file__).parent / "attempts.json"
LIMIT = 480.0
"""Seconds for all tests of one mutant."""


@dataclass(frozen=True)
class Attempt:
    """One thing that once did harm or went wrong in silence."""

    finding: str
    """The row of the audit: a letter for the part and a number."""
    what: str
    test: str
    """The pytest node that makes exactly this attempt."""
    mutant: str
    """The mutant that takes away the code by which the attempt fails."""

    @property
    def key(self) -> str:
        return f"{self.mutant} {self.test}"


def read_attempts() -> list[Attempt]:
    with ATTEMPTS.open("rb") as file:
        return [Attempt(**entry) for entry in tomllib.load(file)["attempt"]]


def read_outcomes() -> dict[str, str]:
    """Outcome by the key of an attempt."""
    found: dict[str, str] = json.loads(OUTCOMES.read_text(encoding="utf-8")) if OUTCOMES.is_file() else {}
    return found


def main(words: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tests.mutations.attempts",
        description="Run the test of every attempt against the mutant that takes the fix away.",
    )
    parser.add_argument("findings", nargs="*", metavar="FINDING", help="rows of the audit; all by default")
    parser.add_argument("--missing", action="store_true", help="only those that are not recorded as killed")
    options = parser.parse_args(words)
    recorded = read_outcomes()
    chosen = [
        attempt
        for attempt in read_attempts()
        if (not options.findings or attempt.finding in options.findings)
        and not (options.missing and recorded.get(attempt.key) == "killed")
    ]
    mutants, unexpected = {mutant.id: mutant for mutant in MUTANTS}, 0
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        project = run.copy_project(Path(folder))
        for name, attempts in groupby(sorted(chosen, key=lambda each: each.mutant), lambda each: each.mutant):
            outcomes = try_attempts(project, mutants[name], [attempt.test for attempt in attempts])
            unexpected += sum(outcome != "killed" for outcome in outcomes.values())
            _write_down({f"{name} {test}": outcome for test, outcome in outcomes.items()})
    return 1 if unexpected else 0


def try_attempts(project: Path, mutant: Mutant, tests: Sequence[str]) -> dict[str, str]:
    """The outcome of each test with the mutated code."""
    with run.applied(project, mutant):
        try:
            ended = run.run_pytest(project, tests, "-m", "", limit=LIMIT, native=mutant.native)
        except subprocess.TimeoutExpired:
            return dict.fromkeys(tests, "timeout")
    lines = ended.stdout.splitlines()
    failed = "invalid" if run.INVALID.search(ended.stdout + ended.stderr) else "killed"
    is_whole = ended.returncode in run.OUTCOMES and not any(line.startswith("ERROR") for line in lines)
    outcomes = {
        test: (failed if _is_failure(test, lines) else "survived") if is_whole else "broken"
        for test in dict.fromkeys(tests)
    }
    for test, outcome in outcomes.items():
        sys.stdout.write(f"{outcome:8} {mutant.id}: {test}\n")
    sys.stdout.flush()
    return outcomes


def _is_failure(test: str, lines: Sequence[str]) -> bool:
    """Whether pytest's summary says so, also of one case of a test that is named without its cases."""
    line = f"FAILED {test}"
    return any(each == line or each.startswith((f"{line} - ", f"{line}[")) for each in lines)


def _write_down(outcomes: dict[str, str]) -> None:
    """Keep the earlier outcomes of all other attempts that are still listed."""
    together = {**read_outcomes(), **outcomes}
    kept = {attempt.key: together[attempt.key] for attempt in read_attempts() if attempt.key in together}
    OUTCOMES.write_text(json.dumps(kept, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
