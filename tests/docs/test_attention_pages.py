"""The pages about attention: every score has one, and every example prints what stands below it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from seqlab.attention.base import score_functions

DOCS = Path(__file__).parents[2] / "docs"
ROOM = DOCS / "rooms" / "attention.md"
PAGES = [*sorted((DOCS / "attention").glob("*.md")), ROOM]
EXAMPLE = re.compile(r"```python\n(.*?)```\n\n```text\n(.*?)```\n", re.DOTALL)


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.relative_to(DOCS).as_posix())
def test_every_example_prints_what_stands_below_it(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = path.read_text(encoding="utf-8")
    examples = EXAMPLE.findall(text)
    assert len(examples) == text.count("```python")
    assert examples
    for code, printed in examples:
        exec(compile(code, path.name, "exec"), {})
        assert capsys.readouterr().out == printed


@pytest.mark.parametrize("name", score_functions.names())
def test_every_score_has_a_page_with_its_file_and_a_line_in_the_table(name: str) -> None:
    page = (DOCS / "attention" / f"{name}.md").read_text(encoding="utf-8")
    assert f"`src/seqlab/attention/{name}.py`" in page
    assert f"| [{name}](../attention/{name}.md) | " in ROOM.read_text(encoding="utf-8")


def test_every_page_is_reached_from_the_room_and_leads_back() -> None:
    room = ROOM.read_text(encoding="utf-8")
    for path in PAGES[:-1]:
        assert f"../attention/{path.name}" in room
        assert "(../rooms/attention.md" in path.read_text(encoding="utf-8")


def test_every_file_of_the_room_is_in_its_table() -> None:
    room = ROOM.read_text(encoding="utf-8")
    files = {path.name for path in (DOCS.parent / "src" / "seqlab" / "attention").glob("*.py")} - {
        "__init__.py"
    }
    assert {name for name in files if f"`{name}`" not in room} == set()
