"""Labels with a column each, and tagged words with a row each."""

from __future__ import annotations

from pathlib import Path

import pytest

from seqlab.core.errors import DataError
from seqlab.sources.open_source import open_source
from seqlab.sources.settings import DataSettings
from seqlab.sources.views.flag_columns import FlagColumns
from seqlab.sources.views.word_rows import WordRows


def table(folder: Path, text: str, **settings: str) -> object:
    path = folder / "table.csv"
    path.write_text(text, encoding="utf-8")
    return open_source(path, DataSettings(**settings))


def test_the_labels_of_a_row_are_the_columns_that_say_yes(tmp_path: Path) -> None:
    source = table(tmp_path, "text,a,b,c\nx y,1,0,TRUE\nx z,0,0,false\nz z,0.0,1.0,1\n")
    rows = list(FlagColumns(source, ["a", "b", "c"], name="labels").rows())
    assert [row.values["labels"] for row in rows] == [["a", "c"], [], ["b", "c"]]


def test_a_cell_that_is_neither_yes_nor_no_is_named(tmp_path: Path) -> None:
    source = table(tmp_path, "text,a,b\nx y,1,0\nx z,maybe,0\n", bad_rows="stop")
    with pytest.raises(DataError, match=r"line 3.*'a'.*'maybe'"):
        list(FlagColumns(source, ["a", "b"], name="labels").rows())


@pytest.mark.parametrize("column", ["s1,,s2,,", "s1,s1,s2,s2,s2"])
def test_words_are_grouped_by_sentence(tmp_path: Path, column: str) -> None:
    words = zip(column.split(","), ["a", "b", "c", "d", "e"], ["X", "Y", "X", "X", "Y"], strict=True)
    lines = "".join(f"{name},{word},{tag}\n" for name, word, tag in words)
    rows = list(WordRows(table(tmp_path, f"s,w,t\n{lines}"), sentence="s", words="w", tags="t").rows())
    assert [(row.values["w"], row.values["t"]) for row in rows] == [
        (["a", "b"], ["X", "Y"]),
        (["c", "d", "e"], ["X", "X", "Y"]),
    ]
    assert [row.line for row in rows] == [2, 4]


def test_a_word_without_a_tag_costs_its_sentence_alone(tmp_path: Path) -> None:
    source = table(tmp_path, "s,w,t\n1,a,X\n1,b,\n2,c,Y\n", bad_rows="skip")
    rows = list(WordRows(source, sentence="s", words="w", tags="t").rows())
    assert [row.values["w"] for row in rows] == [["c"]]
    assert source.bad_rows.count == 1
