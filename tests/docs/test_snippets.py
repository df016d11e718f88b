"""Python in documents parses and imports what exists; marked blocks run on small files."""

from __future__ import annotations

import ast
from importlib import import_module
from pathlib import Path

import pytest

from tests.check_each import check_each
from tests.docs.examples import examples_of, examples_print_what_stands_below
from tests.docs.pages import ROOT
from tests.docs.snippets import marked_snippets, python_blocks, write_files
from tests.docs.test_documents import check_documents

PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").rglob("*.md")])
MARKED = [
    pytest.param(
        path,
        speed,
        id=f"{path.relative_to(ROOT).as_posix()}-{speed}",
        marks=[pytest.mark.slow if speed == "slow" else pytest.mark.long],
    )
    for path in PAGES
    for speed in ("slow", "long")
    if marked_snippets(path.read_text(encoding="utf-8"), speed)
]


@pytest.mark.slow
def test_python_parses_and_names_what_exists() -> None:
    check_documents(python_is_valid)


def python_is_valid(path: Path) -> None:
    for code in python_blocks(path.read_text(encoding="utf-8")):
        for node in ast.walk(ast.parse(code)):
            if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "seqlab":
                module = import_module(node.module or "")
                missing = [name.name for name in node.names if not hasattr(module, name.name)]
                assert missing == [], f"{node.module} has no {missing}"


def test_the_readme_and_first_pages_are_run() -> None:
    pages = {str(case.id).rpartition("-")[0] for case in MARKED}
    assert {"README.md", "docs/get_started/python.md", "docs/get_started/your_own_file.md"} <= pages


@pytest.mark.slow
def test_examples_of_guides_print_what_is_below_them() -> None:
    folders = [ROOT / "docs" / "guides", ROOT / "docs" / "internals"]
    pages = [path for folder in folders for path in sorted(folder.glob("*.md")) if examples_of(path)]
    assert {"decode.md", "use_layers_in_pytorch.md"} <= {path.name for path in pages}
    check_each(pages, examples_print_what_stands_below, name=lambda path: path.name)


@pytest.mark.parametrize(("page", "speed"), MARKED)
def test_marked_blocks_run(
    page: Path,
    speed: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    write_files(tmp_path)
    monkeypatch.chdir(tmp_path)
    for snippet in marked_snippets(page.read_text(encoding="utf-8"), speed):
        snippet.run(page.name, capsys)
