"""Writes docs/lectures.md, the index of the five lectures: `python -m docs.lectures_page`. A test compares the
two.

The rows come from tests/spec_rows.toml, the tests from their `@pytest.mark.spec(...)`, the rest from
docs/lectures.toml.
"""

from __future__ import annotations

import ast
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from tests.spec_index import read_rows

DOCS = Path(__file__).parent
PAGE = DOCS / "lectures.md"
TABLE = DOCS / "lectures.toml"
TESTS = DOCS.parent / "tests"
LECTURES = {
    "000": "Recurrent networks to attention: a survey",
    "001": "Gradients of recurrent networks, attention and Transformers: a vision course",
    "002": "Advanced recurrent models",
    "003": "Sequential tasks in PyTorch: a notebook with printed results",
    "004": "From recurrent networks to attention: a derivation",
}
WIDE = "---\nhide:\n  - navigation\n  - toc\n---\n"  # file names need the room
INTRODUCTION = """\
The index of the five lectures that seqlab is built from: what each one claims or derives (with a link to the
page that explains it), the module that implements it, the tests that carry its number (`pytest -m spec`), and the study that
reruns the claim. The numbers are stable. A row that several lectures share is listed under each of them.

† The lecture prints something wrong or ambiguous. seqlab has the correct form as the default; where the printed
form is available it has a name of its own, and the concept page says which is which.

Made by `python -m docs.lectures_page` from docs/lectures.toml, tests/spec_rows.toml and the marks of the tests.
A mark is a claim that the test proves the row; "none yet" means that no test makes it."""


@dataclass(frozen=True)
class Row:
    """One line of the specification: what a lecture says, and where seqlab has it."""

    number: int
    title: str
    lectures: tuple[str, ...]
    equation: str
    misprint: bool
    modules: tuple[str, ...]
    studies: tuple[str, ...]
    page: str


def read_lecture_rows() -> list[Row]:
    """All rows in the order of their numbers."""
    table = tomllib.loads(TABLE.read_text(encoding="utf-8"))
    titles = {number: title for section in read_rows() for number, title in section.rows.items()}
    return [
        Row(
            number,
            title,
            tuple(table[str(number)]["lectures"]),
            table[str(number)].get("equation", ""),
            table[str(number)].get("misprint", False),
            tuple(table[str(number)].get("modules", ())),
            tuple(table[str(number)].get("studies", ())),
            table[str(number)].get("page", ""),
        )
        for number, title in titles.items()
    ]


def find_marks() -> dict[int, Counter[str]]:
    """How many tests of each file carry the number of a row."""
    found: dict[int, Counter[str]] = defaultdict(Counter)
    for path in sorted(TESTS.rglob("test_*.py")):
        for row in marks_of(ast.parse(path.read_text(encoding="utf-8"))):
            found[row][path.relative_to(TESTS).as_posix()] += 1
    return found


def marks_of(module: ast.Module) -> Iterator[int]:
    """The rows on every test function, one by one; text inside strings does not count."""
    for function in ast.walk(module):
        if isinstance(function, ast.FunctionDef):
            for decorator in function.decorator_list:
                if isinstance(decorator, ast.Call) and ast.unparse(decorator.func) == "pytest.mark.spec":
                    yield from (ast.literal_eval(argument) for argument in decorator.args)


def page() -> str:
    """The whole page."""
    marks = find_marks()
    rows = read_lecture_rows()
    lines = [WIDE, "# The lectures, row by row", "", INTRODUCTION, ""]
    for key, title in LECTURES.items():
        lines += [f"- [{key}](#{anchor(key, title)}): {title}"]
    for key, title in LECTURES.items():
        lines += ["", f"## {key} {title}", ""]
        lines += ["| # | claim or equation | module | tests | study |", "|---|---|---|---|---|"]
        lines += [line_of(row, marks) for row in rows if key in row.lectures]
    return "\n".join([*lines, ""])


def anchor(key: str, title: str) -> str:
    """
    >>> anchor("000", "Nets: a survey")
    '000-nets-a-survey'
    """
    kept = "".join(letter for letter in f"{key} {title}".lower() if letter.isalnum() or letter in " -")
    return kept.replace(" ", "-")


def line_of(row: Row, marks: Mapping[int, Counter[str]]) -> str:
    title = f"[{row.title}]({row.page}.md)" if row.page else row.title
    modules = [f"`{module}`" for module in row.modules]
    tests = [
        f"`{file}`" + (f" ({count})" if count > 1 else "")
        for file, count in marks.get(row.number, {}).items()
    ]
    cells = [
        str(row.number),
        title + (f": `{row.equation}`" if row.equation else "") + (" †" if row.misprint else ""),
        "<br>".join(modules) or ("" if row.page else "none yet"),
        "<br>".join(tests) or "none yet",
        "<br>".join(f"`{study}`" for study in row.studies),
    ]
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
