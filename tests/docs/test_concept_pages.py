"""The pages of concepts: each has all its parts, what they name exists, and every example has its
output below it.
"""

from __future__ import annotations

import re
from pathlib import Path

from seqlab.studies.base import studies
from tests.check_each import check_each
from tests.docs.commands import commands
from tests.docs.story import every_example_has_its_output

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "docs" / "concepts"
INDEX = FOLDER / "index.md"
READING_ORDER = [
    FOLDER / target
    for target in re.findall(r"^\d+\. \[.*?\]\((.*?)\)", INDEX.read_text(encoding="utf-8"), re.M)
]
SECTIONS = ("Equation", "Common mistakes", "In the code", "Try it", "Settings", "Papers")


def name(path: Path) -> str:
    return path.relative_to(FOLDER).as_posix()


def test_every_page_is_in_the_reading_order_once() -> None:
    pages = {*FOLDER.glob("*.md"), FOLDER / "attention" / "index.md", FOLDER / "transformer" / "index.md"}
    assert sorted(READING_ORDER) == sorted(pages - {INDEX})


def test_every_page_has_its_parts() -> None:
    check_each(READING_ORDER, has_its_parts, name=name)


def has_its_parts(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert [section for section in SECTIONS if f"\n## {section}\n" not in text] == []
    assert re.search(r"!\[[^\]]{20,}\]\([^)]+\.svg\)", text), "no picture with a description"
    code = part(text, "In the code")
    for folder in ("src/seqlab/", "tests/"):
        named = re.findall(rf"`({folder}[^`]+)`", code)
        assert named, f"names no file of {folder}"
        assert [file for file in named if not (ROOT / file).is_file()] == []
    assert 3 <= len(commands(part(text, "Try it"))) <= 5


def part(text: str, section: str) -> str:
    return text.partition(f"\n## {section}\n")[2].partition("\n## ")[0]


def test_every_study_that_a_page_names_exists_and_every_study_is_on_a_page() -> None:
    named: set[str] = set()
    for path in READING_ORDER:
        text = path.read_text(encoding="utf-8")
        of_commands = {words[2] for words in commands(text) if words[1] == "study"}
        of_sentences = set(re.findall(r"`seqlab study ([a-z_]+)", text))
        lines = [
            line
            for line in part(text, "In the code").splitlines()
            if re.match(r"- (Stud(y|ies)|Related)", line)
        ]
        of_code = set(re.findall(r"`([a-z_]+)`", " ".join(lines)))
        assert of_commands | of_sentences | of_code <= {*studies.names(), "seqlab"}, name(path)
        named |= of_commands | of_sentences | of_code
    assert set(studies.names()) <= named


def test_every_example_has_its_output_below_it() -> None:
    pages = [path for path in READING_ORDER if "```python" in path.read_text(encoding="utf-8")]
    check_each(pages, every_example_has_its_output, name=name)
