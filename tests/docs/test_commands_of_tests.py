"""Documents that name a test by its command: the command chooses a test."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
COMMAND = re.compile(r"`pytest(?: -m (?P<mark>\w+))? (?P<file>tests/\S+?\.py)(?: -k (?P<word>\w+))?`")
COMMANDS = [
    (page.relative_to(ROOT).as_posix(), match.group("file"), match.group("mark"), match.group("word"))
    for page in sorted((ROOT / "docs").rglob("*.md"))
    for match in COMMAND.finditer(page.read_text(encoding="utf-8"))
]


@pytest.mark.spec(168)
@pytest.mark.parametrize(("page", "file", "mark", "word"), COMMANDS)
def test_a_command_of_the_documents_chooses_a_test(
    page: str, file: str, mark: str | None, word: str | None
) -> None:
    tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
    module_marks = " ".join(
        ast.unparse(line.value)
        for line in tree.body
        if isinstance(line, ast.Assign) and ast.unparse(line.targets[0]) == "pytestmark"
    )
    tests = {
        line.name: " ".join(map(ast.unparse, line.decorator_list)) + " " + module_marks
        for line in tree.body
        if isinstance(line, ast.FunctionDef) and line.name.startswith("test_")
    }
    chosen = [
        name
        for name, marks in tests.items()
        if (mark is None or f"mark.{mark}" in marks) and (word is None or word in name)
    ]
    assert chosen, f"{page}: pytest chooses no test of {file}"


def test_commands_are_found() -> None:
    assert len(COMMANDS) >= 5
