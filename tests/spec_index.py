"""Which rows of the specification have a passing test: `python tests/spec_index.py REPORT.json`.

The report is what `pytest --spec-report=REPORT.json` writes. A row counts when at least one test that carries
its number passed and none failed.
"""

from __future__ import annotations

import json
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import TypedDict

ROWS = Path(__file__).with_name("spec_rows.toml")


class Outcome(TypedDict):
    """The tests that speak for one row, by how they ended."""

    passed: list[str]
    failed: list[str]


@dataclass(frozen=True)
class Section:
    """One part of the specification: its letter, its title, and the title of each row."""

    letter: str
    title: str
    rows: dict[int, str]


def read_rows(path: Path = ROWS) -> list[Section]:
    """The sections of the specification, in order."""
    content = tomllib.loads(path.read_text(encoding="utf-8"))
    return [
        Section(letter, part["title"], {int(number): title for number, title in part["rows"].items()})
        for letter, part in content.items()
    ]


def proved_rows(report: dict[str, Outcome]) -> set[int]:
    """The rows with a passing test and no failing one."""
    return {int(row) for row, outcome in report.items() if outcome["passed"] and not outcome["failed"]}


def index(sections: list[Section], report: dict[str, Outcome]) -> list[str]:
    """The lines of the index: a count for each section and for all of them, then what is missing."""
    proved = proved_rows(report)
    everything = {number: title for section in sections for number, title in section.rows.items()}
    width = max(len(section.title) for section in sections)
    lines = [
        (
            f"{len(proved & everything.keys())} of {len(everything)} rows of the specification have a passing"
            " test."
        ),
        "",
    ]
    for section in sections:
        lines.append(
            f"  {section.letter}  {section.title:<{width}}  {len(proved & section.rows.keys()):3} of"
            f" {len(section.rows):3}"
        )
    missing = [number for number in everything if number not in proved]
    if missing:
        lines += ["", "Missing:"]
    for number in missing:
        failing = len(report[str(number)]["failed"]) if str(number) in report else 0
        lines.append(f"  {number:3}  {everything[number]}" + (f"  ({failing} failing)" if failing else ""))
    return lines


def main(arguments: list[str]) -> int:
    if len(arguments) != 1:
        sys.stderr.write("usage: python tests/spec_index.py REPORT.json\n")
        return 2
    path = Path(arguments[0])
    if not path.is_file():
        sys.stderr.write(f"{path}: there is no such report.\n  pytest --spec-report={path} writes it.\n")
        return 2
    sys.stdout.write("\n".join(index(read_rows(), json.loads(path.read_text(encoding="utf-8")))) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
