"""Files that are no prose but are read as plain text say so, with what to do about it."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from seqlab.core.errors import DataError
from seqlab.sources.base import TextSource
from seqlab.sources.open_source import open_source
from seqlab.sources.settings import DataSettings


def notes_of(path: Path, content: str, **settings: str) -> str:
    path.write_text(content, encoding="utf-8")
    source = open_source(path, DataSettings(**settings))  # type: ignore[arg-type]  # whatever a test asks for
    assert isinstance(source, TextSource)
    return "\n".join(source.notes)


@pytest.mark.parametrize(
    ("name", "content", "facts"),
    [
        ("a.xml", '<?xml version="1.0"?>\n<rows><row><text>fine</text></row></rows>\n', ("XML", "pandas")),
        ("page", "\n<!DOCTYPE html>\n<html><body>fine</body></html>\n", ("HTML", "pandoc")),
        ("a.txt", "% by hand\n\\documentclass{article}\n\\begin{document}fine", ("TeX", "pandoc")),
        ("a.ics", "BEGIN:VCALENDAR\nSUMMARY:fine\nEND:VCALENDAR\n", ("calendar", "table")),
        ("a.arff", "% iris\n@RELATION iris\n@DATA\n1,2\n", ("ARFF", "table")),
        ("a.bib", "@article{knuth,\n title = {fine}\n}\n", ("BibTeX", "table")),
        ("a.sql", "-- MySQL dump 10\nCREATE TABLE a (b int);\n", ("database", "table")),
    ],
)
def test_structures_are_named_with_a_way_to_convert_them(
    name: str, content: str, facts: tuple[str, str], tmp_path: Path
) -> None:
    told = notes_of(tmp_path / name, content)
    assert [fact for fact in (*facts, "plain text") if fact not in told] == []
    assert notes_of(tmp_path / name, content, format="text") == ""


@pytest.mark.parametrize(
    "content", ["<3 is a heart\n", "@anna, hello\n", "-- she said\n", "# a title\nfine\n"]
)
def test_prose_is_read_without_a_word(content: str, tmp_path: Path) -> None:
    assert notes_of(tmp_path / "a.txt", content * 9) == ""


def test_rich_text_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.rtf").write_text("{\\rtf1\\ansi fine}\n")
    with pytest.raises(DataError, match="RTF"):
        open_source(tmp_path / "a.rtf", DataSettings())


def test_lines_with_columns_in_a_text_file_come_with_the_setting_that_reads_them(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    assert "data.delimiter='|'" in notes_of(path, "it was fine|pos\nit was dull|neg\n" * 9)
    rows = open_source(path, DataSettings(format="csv", delimiter="|", header="false")).rows()
    assert next(iter(rows)).values == {"1": "it was fine", "2": "pos"}


def test_the_command_for_longer_marks_makes_a_table(tmp_path: Path) -> None:
    path = tmp_path / "the pairs.txt"
    told = notes_of(path, "a b ||| c d ||| 5\ne ||| f ||| 1\n" * 9)
    subprocess.run(told.partition("run: ")[2], shell=True, check=True)
    assert (tmp_path / "the pairs.txt.tsv").read_text() == "a b\tc d\t5\ne\tf\t1\n" * 9
