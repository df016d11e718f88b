"""python -m tests.mutations.run [ID…]: break the code on purpose, one mistake at a time, and see whether the named tests notice.

Every mistake is made in a temporary copy of the project, never in the working tree. The outcome of each is one of

    killed      a test failed
    survived    all tests passed: nobody noticed
    timeout     the tests did not end within the limit, which may be the mutant's doing or a busy machine
    missing     the snippet does not occur exactly once: the code has moved, so the table has to follow
    invalid     the mutated code does not compile, or failed on a name, an import or a call that does not fit: any test would notice that
    broken      pytest found no test, could not collect them, or a fixture failed: the mutant or its tests have to be corrected

and all outcomes together, with the processor time of each, are written to tests/mutations/results.json.
With --check nothing is run: snippets that are missing or do not compile, and missing tests are listed.
With --clean the tests of all chosen mutants run once on the unchanged copy: a test that fails there kills nothing.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import resource
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.mutations.mutant import Mutant
from tests.mutations.snippet import SnippetError, apply
from tests.mutations.table import MUTANTS

ROOT = Path(__file__).parents[2]
RESULTS = Path(__file__).parent / "results.json"
COPIED = (
    "src",
    "tests",
    "docs",
    "pyproject.toml",
    "README.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    "Makefile",
    "mkdocs.yml",
)
LIMIT = 240.0
"""Seconds after which the tests of a mutant count as hanging."""
OUTCOMES = {0: "survived", 1: "killed"}
"""What the exit status of pytest says about a mutant; all others mean that nothing was tested."""
INVALID = re.compile(
    r"^(?:E\s+)?(?:(?:NameError|UnboundLocalError|ImportError|ModuleNotFoundError|AttributeError|SyntaxError|IndentationError)\b.*"
    r"|TypeError: .*(?:positional argument|unexpected keyword|missing \d+ required).*)$",
    re.MULTILINE,
)
"""Errors, in the test or in a process it started, that say the mutant is no code that anyone could have written and run."""


def main(words: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tests.mutations.run",
        description="Break the code on purpose and see whether tests notice.",
    )
    parser.add_argument("ids", nargs="*", metavar="ID", help="mutants; all when none is named")
    parser.add_argument(
        "--check", action="store_true", help="run nothing, list missing snippets and test files"
    )
    parser.add_argument("--clean", action="store_true", help="run the tests on unchanged code")
    parser.add_argument(
        "--limit", type=float, default=LIMIT, metavar="SECONDS", help="time limit of one mutant"
    )
    options = parser.parse_args(words)
    known = {mutant.id: mutant for mutant in MUTANTS}
    if unknown := [name for name in options.ids if name not in known]:
        parser.error(f"no such mutant: {', '.join(unknown)}")
    chosen = [known[name] for name in options.ids] or MUTANTS
    if options.check:
        return _check(chosen)
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        project = copy_project(Path(folder))
        if options.clean:
            return _run_clean(project, chosen)
        unexpected = 0
        for mutant in chosen:
            result = _try(project, mutant, limit=options.limit)
            unexpected += result["outcome"] != ("survived" if mutant.survives_today else "killed")
            counts = _write_down(result)
        _say(
            ", ".join(f"{count} {outcome}" for outcome, count in counts.items())
            + f" in {RESULTS.relative_to(ROOT)}"
        )
        return 1 if unexpected else 0


def copy_project(folder: Path) -> Path:
    """The files that tests need, in a folder that may be broken."""
    for name in COPIED:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
        elif (ROOT / name).is_file():
            shutil.copy2(ROOT / name, folder / name)
    return folder


def _try(project: Path, mutant: Mutant, *, limit: float) -> dict[str, Any]:
    began = _processor_seconds()
    try:
        with applied(project, mutant):
            outcome, told = _outcome(project, mutant, limit=limit)
    except SnippetError as error:
        outcome, told = ("invalid" if error.__cause__ else "missing"), str(error)
    seconds = round(_processor_seconds() - began, 1)
    expected = " (as known)" if outcome == "survived" and mutant.survives_today else ""
    _say(f"{outcome:8} {mutant.id}{expected}: {told} [{seconds:.0f} s]")
    row = {} if mutant.row is None else {"row": mutant.row}
    return {"id": mutant.id, "outcome": outcome, **row, "seconds": seconds, "told": told}


@contextmanager
def applied(project: Path, mutant: Mutant) -> Iterator[None]:
    """The copy of the project with one mistake in it; raises SnippetError if it cannot be made."""
    path, mutated = apply(mutant, project / "src" / "seqlab")
    text = path.read_text(encoding="utf-8")
    _write(path, mutated)
    try:
        yield
    finally:
        _write(path, text)


def _processor_seconds() -> float:
    """Of all child processes so far: what a free core would take, whatever else runs here."""
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    return spent.ru_utime + spent.ru_stime


def _write(path: Path, text: str) -> None:
    """With a time of change that no earlier version had, or compiled modules of that version would be used."""
    newest = path.stat().st_mtime + 2
    path.write_text(text, encoding="utf-8")
    os.utime(path, (newest, newest))


def _outcome(project: Path, mutant: Mutant, *, limit: float) -> tuple[str, str]:
    try:
        ended = run_pytest(project, shlex.split(mutant.tests), "-x", limit=limit, native=mutant.native)
    except subprocess.TimeoutExpired:
        return "timeout", f"no end after {limit:.0f} s"
    if ended.returncode != 0 and (error := INVALID.search(ended.stdout + ended.stderr)):
        return "invalid", error.group()[:200]
    lines = [line for line in (ended.stdout or ended.stderr).splitlines() if line.strip()]
    failed = next(
        (line for line in lines if line.startswith(("FAILED", "ERROR"))), lines[-1] if lines else ""
    )
    is_tested = not failed.startswith("ERROR")  # a fixture that fails proves nothing about a test
    return OUTCOMES.get(ended.returncode, "broken") if is_tested else "broken", failed[:200]


def run_pytest(
    project: Path, tests: Sequence[str], *options: str, limit: float | None = None, native: bool = False
) -> subprocess.CompletedProcess[str]:
    environment = {
        **os.environ,
        "PYTHONPATH": str(project / "src"),
        "OMP_NUM_THREADS": "1",
        "SEQLAB_NATIVE": "1" if native else "0",
        "COLUMNS": "240",  # or pytest cuts off what failed
    }
    command = [sys.executable, "-m", "pytest", "-q", "--tb=short", "-m", "not long", *options, *tests]
    return subprocess.run(
        command, cwd=project, env=environment, capture_output=True, text=True, timeout=limit, check=False
    )


def _run_clean(project: Path, mutants: Sequence[Mutant]) -> int:
    """The tests of all mutants on unchanged code, each selection once."""
    failed = 0
    for tests, native in dict.fromkeys((mutant.tests, mutant.native) for mutant in mutants):
        began = _processor_seconds()
        ended = run_pytest(project, shlex.split(tests), native=native)
        failed += ended.returncode != 0
        last = (ended.stdout or ended.stderr).strip().splitlines()[-1:] or [""]
        _say(
            f"{'passed' if ended.returncode == 0 else 'FAILED'} {tests}: {last[0]} [{_processor_seconds() - began:.0f} s]"
        )
    return 1 if failed else 0


def _check(mutants: Sequence[Mutant]) -> int:
    wrong = 0
    for mutant in mutants:
        try:
            apply(mutant, ROOT / "src" / "seqlab")
        except SnippetError as error:
            _say(f"{mutant.id}: {error}")
            wrong += 1
        for word in shlex.split(mutant.tests):
            if word.startswith(("tests/", "src/")) and not (ROOT / word).exists():
                _say(f"{mutant.id}: there is no {word}")
                wrong += 1
    _say(f"{len(mutants)} mutants, {wrong} things to correct")
    return 1 if wrong else 0


def _write_down(result: dict[str, Any]) -> dict[str, int]:
    """Put an outcome among those of earlier runs, which stay where a mutant is not tried again; how often each outcome stands there."""
    earlier = json.loads(RESULTS.read_text(encoding="utf-8"))["mutants"] if RESULTS.is_file() else []
    together = {entry["id"]: entry for entry in [*earlier, result]}
    ordered = [together[mutant.id] for mutant in MUTANTS if mutant.id in together]
    counts = dict(sorted(Counter(entry["outcome"] for entry in ordered).items()))
    seconds = round(sum(entry["seconds"] for entry in ordered))
    survivors = [entry["id"] for entry in ordered if entry["outcome"] == "survived"]
    head = f' "counts": {json.dumps(counts)},\n "seconds": {seconds},\n "survivors": {json.dumps(survivors)},\n "mutants": [\n'
    lines = ",\n".join(f"  {json.dumps(entry, ensure_ascii=False)}" for entry in ordered)
    RESULTS.write_text(f"{{\n{head}{lines}\n ]\n}}\n", encoding="utf-8")
    return counts


def _say(line: str) -> None:
    print(line, flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
