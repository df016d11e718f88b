"""The index of the lectures is current, covers every row, and names only what exists."""

from __future__ import annotations

import ast
from pathlib import Path

from docs.lectures_page import LECTURES, PAGE, Row, find_marks, marks_of, page, read_lecture_rows
from seqlab.studies.base import studies
from tests.check_each import check_each
from tests.spec_index import read_rows

ROOT = Path(__file__).parents[2]
ROWS = read_lecture_rows()


def test_the_page_is_what_the_script_writes() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "run: python -m docs.lectures_page"


def test_every_row_of_the_specification_is_on_it() -> None:
    assert [row.number for row in ROWS] == [number for section in read_rows() for number in section.rows]
    assert len(ROWS) == 203


def test_files_studies_and_pages_exist() -> None:
    check_each(ROWS, names_what_exists, name=lambda row: str(row.number))


def names_what_exists(row: Row) -> None:
    assert row.lectures
    assert set(row.lectures) <= set(LECTURES)
    assert [module for module in row.modules if not (ROOT / "src" / "seqlab" / module).is_file()] == []
    assert set(row.studies) <= set(studies.names())
    assert not row.page or (ROOT / "docs" / f"{row.page}.md").is_file()


def test_every_study_belongs_to_a_row() -> None:
    assert set(studies.names()) == {study for row in ROWS for study in row.studies}


def test_marks_are_those_of_decorators_and_not_of_text() -> None:
    source = '@pytest.mark.spec(3, 4)\n@pytest.mark.slow\ndef test_a(): ...\nTRIAL = "@pytest.mark.spec(5)"\n'
    assert list(marks_of(ast.parse(source))) == [3, 4]
    assert find_marks()[57]["cells/test_rnn_forms.py"] >= 3
