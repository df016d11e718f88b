"""What is read although it is not as it should be, and said."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from seqlab.core.errors import DataError
from seqlab.sources.bad_rows import TooManyBadRows
from seqlab.sources.base import Source
from seqlab.sources.open_source import open_parts, open_source
from seqlab.sources.settings import DataSettings

ROWS = "text,label\n" + "".join(f"a fine film {n},pos\na dull film {n},neg\n" for n in range(30))


def opened(path: Path, content: bytes | str, **options: object) -> Source:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return open_source(path, DataSettings.model_validate(options))


def values(source: Source) -> list[dict[str, object]]:
    return [row.values for row in source.rows()]


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-8-sig"])
def test_encodings_with_a_mark_or_with_nul_bytes_are_read(encoding: str, tmp_path: Path) -> None:
    source = opened(tmp_path / "t.csv", ROWS.encode(encoding))
    assert values(source)[0] == {"text": "a fine film 0", "label": "pos"}
    assert len(values(source)) == 60
    assert any("data.encoding" in note for note in source.notes) == (encoding != "utf-8-sig")


@pytest.mark.parametrize("name", ["t.csv", "t.jsonl", "t.txt"])
def test_cp1252_is_read_with_its_euro_sign(name: str, tmp_path: Path) -> None:
    text = "schön für 5 €"
    content = {
        "t.csv": f"text,label\n{text},a\n",
        "t.jsonl": json.dumps({"text": text}, ensure_ascii=False) + "\n",
        "t.txt": f"{text}\n",
    }[name]
    source = opened(tmp_path / name, content.encode("cp1252"))
    assert values(source)[0]["text"] == text
    assert "cp1252" in source.notes[0]
    assert (
        source.fingerprint()
        != opened(tmp_path / name, content.encode("cp1252"), encoding="latin-1").fingerprint()
    )


def test_an_encoding_that_shows_only_after_megabytes_is_found(tmp_path: Path) -> None:
    content = b"text,label\n" + b"plain words only,a\n" * 80_000 + "schön für 5 €,b\n".encode("cp1252") * 9
    source = opened(tmp_path / "t.csv", content)
    assert values(source)[-1] == {"text": "schön für 5 €", "label": "b"}
    assert "cp1252" in source.notes[0]


@pytest.mark.parametrize("name", ["t.csv", "t.txt"])
def test_another_encoding_after_megabytes_of_utf8_is_an_error_that_names_the_setting(
    name: str, tmp_path: Path
) -> None:
    content = b"text,label\n" + "schön,a\n".encode() * 150_000 + "schön,b\n".encode("cp1252") * 9
    with pytest.raises(DataError, match=r"line 150002.*f6") as caught:
        values(opened(tmp_path / name, content, bad_rows="stop"))
    assert "data.encoding=cp1252" in caught.value.cure


def test_a_short_row_does_not_slip_into_the_place_of_a_column_that_is_left_out(tmp_path: Path) -> None:
    content = "text,,label\n" + "a fine film,,pos\na dull film,,neg\n" * 150 + "no label,pos\n"
    source = opened(tmp_path / "t.csv", content)
    assert len(values(source)) == 300
    assert source.bad_rows.count == 1


def test_repeated_names_get_numbers_that_no_other_column_has(tmp_path: Path) -> None:
    source = opened(tmp_path / "t.csv", "a,a,a_2,a\n" + "good film,bad film,x,y\n" * 9)
    assert source.columns[0] == "a"
    assert source.columns[2] == "a_2"
    assert len(set(source.columns)) == 4


TABLE = [{"text": f"a {'fine' if n % 2 else 'dull'} film {n}", "label": n % 2} for n in range(30)]


@pytest.mark.parametrize("indent", [None, 1])
@pytest.mark.parametrize("layout", ["columns", "lists", "index"])
def test_a_table_in_one_json_object_is_read_by_rows(layout: str, indent: int | None, tmp_path: Path) -> None:
    table: dict[str, object] = {
        "columns": {name: {str(n): row[name] for n, row in enumerate(TABLE)} for name in ("text", "label")},
        "lists": {name: [row[name] for row in TABLE] for name in ("text", "label")},
        "index": {f"r{n}": row for n, row in enumerate(TABLE)},
    }[layout]
    source = opened(tmp_path / "t.json", json.dumps(table, indent=indent))
    assert values(source) == TABLE
    assert any("pandas" in note for note in source.notes)


def test_utf8_with_a_damaged_line_is_not_taken_for_another_encoding(tmp_path: Path) -> None:
    content = "text,label\n" + "größe über,a\n" * 40
    source = opened(tmp_path / "t.csv", content.encode() + b"gr\xf6\xdfe,b\n")
    assert len(values(source)) == 40
    assert source.bad_rows.count == 1


def test_empty_unnamed_columns_are_left_out_and_others_get_names(tmp_path: Path) -> None:
    content = ",text,label,,text,\n" + "".join(f"{n},a b {n},x,,more,\n" for n in range(10)) + "10,last,y\n"
    source = opened(tmp_path / "t.csv", content, bad_rows="skip")
    assert source.columns == ["column_1", "text", "label", "text_2"]
    assert values(source)[0] == {"column_1": "0", "text": "a b 0", "label": "x", "text_2": "more"}
    assert len(values(source)) == 10  # the last row lacks a column that counts
    assert sum("column" in note for note in source.notes) == 3


def test_rows_of_empty_cells_are_empty_lines_and_cells_at_the_end_may_be_too_many(tmp_path: Path) -> None:
    source = opened(tmp_path / "t.csv", "text;label\na b;x;;\n;\n;;\nc d;y\n")
    assert [row.line for row in source.rows()] == [2, 5]
    assert source.bad_rows.count == 0


def test_titles_above_the_header_are_skipped_and_line_numbers_stay(tmp_path: Path) -> None:
    content = "Report of March\n\n# by: me, for you\n" + ROWS
    source = opened(tmp_path / "t.csv", content)
    assert source.columns == ["text", "label"]
    assert next(iter(source.rows())).line == 5
    assert "line 4" in source.notes[0]
    named = opened(tmp_path / "t.csv", content, first_line=4)
    assert (named.columns, named.notes) == (["text", "label"], ())


@pytest.mark.parametrize(
    ("titles", "header_line"),
    [
        (["Account;DE00;;;", "Balance:;12,5 €;;;", ";;;;"], 4),  # a spreadsheet pads them
        ([";English;;German;"], 2),  # merged cells
        ([], 1),
    ],
)
def test_titles_that_are_padded_with_delimiters_are_skipped(
    titles: list[str], header_line: int, tmp_path: Path
) -> None:
    rows = [f"{n};it was {n};x;es war {n};y" for n in range(20)]
    names = ["No.", "Term", "Source", "Benennung", "Quelle"]
    source = opened(tmp_path / "t.csv", "\n".join([*titles, ";".join(names), *rows]) + "\n")
    assert source.columns == names
    assert next(iter(source.rows())).line == header_line + 1


def test_a_header_of_a_few_names_above_columns_into_which_texts_overflow_is_no_title(tmp_path: Path) -> None:
    rows = [f"{'ham' if n % 2 else 'spam'};text {n};;;" for n in range(20)]
    source = opened(tmp_path / "t.csv", "\n".join(["v1;v2;;;", *rows]) + "\n")
    assert source.columns == ["v1", "v2"]


@pytest.mark.parametrize(
    ("content", "has_header"),
    [
        ("pos,a fine film\nneg,a dull film indeed\npos,what a day\nneg,no thanks\n", False),
        ("mood,what was said\npos,a fine film\nneg,a dull film indeed\npos,what a day\n", True),
        ("1,a fine film\n2,a dull film indeed\n3,what a day\n", False),
        ("nr,a fine film\n2,a dull film indeed\n3,what a day\n", True),
        ("1990,1991\n3,4\n5,6\n", False),
        ("x,y\n3,4\n5,6\n", True),
        ("text\nI came. I saw.\nI won.\n", True),
    ],
)
def test_a_missing_header_is_noticed(content: str, has_header: bool, tmp_path: Path) -> None:
    source = opened(tmp_path / "t.csv", content)
    assert (len(values(source)) == content.count("\n") - 1) is has_header
    assert any("data.header=true" in note for note in source.notes) is not has_header


def test_a_few_bad_rows_are_skipped_and_many_are_refused_with_the_setting(tmp_path: Path) -> None:
    few, many = ROWS + "odd\n" * 3, ROWS + "odd\n" * 4
    source = opened(tmp_path / "few.csv", few)
    assert len(values(source)) == 60
    assert source.bad_rows.count == 3
    with pytest.raises(TooManyBadRows, match=r"(?s)line 62.*4 of 64 rows.*data\.bad_rows=skip"):
        values(opened(tmp_path / "many.csv", many))
    assert len(values(opened(tmp_path / "many.csv", many, bad_rows="skip"))) == 60
    with pytest.raises(DataError, match="line 62"):
        values(opened(tmp_path / "few.csv", few, bad_rows="stop"))


def test_lines_swallowed_by_an_open_quotation_mark_count_as_lost_rows(tmp_path: Path) -> None:
    lines = ROWS.splitlines()
    lines[40] = '"' + lines[40]
    with pytest.raises(TooManyBadRows, match=r"line 41.*\n.*21 of 60 rows"):
        values(opened(tmp_path / "t.csv", "\n".join(lines) + "\n"))


def test_nested_objects_are_columns_with_dotted_names(tmp_path: Path) -> None:
    row = {"ticket": {"body": "hello", "by": {"name": "Ada"}}, "tags": ["a"]}
    source = opened(tmp_path / "t.jsonl", json.dumps(row) + "\n")
    assert source.columns == ["ticket.body", "ticket.by.name", "tags"]
    assert values(source) == [{"ticket.body": "hello", "ticket.by.name": "Ada", "tags": ["a"]}]


@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize(
    ("around", "path"),
    [
        (lambda rows: {"feed": {"link": [{"href": "x"}], "entry": rows, "updated": "today"}}, "feed.entry"),
        (lambda rows: {"kind": "Listing", "data": {"after": "t3", "children": rows}}, "data.children"),
        (lambda rows: {"meta": {"page": 1}, "data": {"hits": {"hits": rows}}}, "data.hits.hits"),
    ],
)
def test_rows_deep_inside_the_answer_of_a_web_service_are_found(
    around: Callable[[list[dict[str, Any]]], dict[str, Any]], path: str, indent: int | None, tmp_path: Path
) -> None:
    rows = [{"id": n, "content": {"label": f"review {n}"}} for n in range(5)]
    source = opened(tmp_path / "t.json", json.dumps(around(rows), indent=indent))
    assert values(source) == [{"id": row["id"], "content.label": f"review {row['id']}"} for row in rows]
    assert [row.line for row in source.rows()] == [1, 2, 3, 4, 5]
    assert any(path in note for note in source.notes)


def test_lists_of_objects_in_the_rows_of_a_table_are_not_taken_for_its_rows(tmp_path: Path) -> None:
    table = {str(n): {"text": f"text {n}", "tags": [{"a": 1}, {"a": 2}]} for n in range(5)}
    source = opened(tmp_path / "t.json", json.dumps(table))
    assert [row["text"] for row in values(source)] == [f"text {n}" for n in range(5)]


@pytest.mark.parametrize("size", [3, 20_000])
@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize("form", ["array", "wrapped", "sequence"])
def test_json_documents_are_read_object_by_object(
    form: str, indent: int | None, size: int, tmp_path: Path
) -> None:
    rows = [{"text": f"tëxt {n}", "n": n, "more": [1, {"a": "]}"}]} for n in range(size)]
    document = {
        "array": json.dumps(rows, indent=indent),
        "wrapped": json.dumps({"meta": {"n": [1, 2]}, "none": [], "items": rows, "after": 1}, indent=indent),
        "sequence": "\n".join(json.dumps(row, indent=indent) for row in rows),
    }[form]
    source = opened(tmp_path / "t.json", document)
    assert values(source) == rows
    lines = [row.line for row in source.rows()]
    starts = [number for number, line in enumerate(document.split("\n"), start=1) if '"text"' in line]
    in_one_line = indent is None and form != "sequence"
    assert lines == ([start - bool(indent) for start in starts] if not in_one_line else [*range(1, size + 1)])


@pytest.mark.parametrize(
    ("document", "line"),
    [
        ('[{"text": "a"}]\n[{"text": "b"}]', 2),
        ('[{"text": "a"}]\nx', 2),
        ('{"text":\n"a"}\n"text": "b"}\n{"text": "c"}', 3),
        ('{"items": [{"text": "a"}],\n"more": [', 2),
        ('{"items": [{"text": "a"}]}\n]', 2),
    ],
)
def test_json_after_the_last_row_is_an_error_and_not_the_end(
    document: str, line: int, tmp_path: Path
) -> None:
    with pytest.raises(DataError) as caught:
        values(opened(tmp_path / "t.json", document))
    assert caught.value.where.endswith(f"line {line}")


def test_splits_in_one_json_object_are_refused_instead_of_losing_one(tmp_path: Path) -> None:
    rows = [{"text": f"text {n}", "label": "ab"[n % 2]} for n in range(9)]
    document = json.dumps({"train": rows, "version": 1, "dev": rows}, indent=1)
    with pytest.raises(DataError) as caught:
        values(opened(tmp_path / "t.json", document))
    assert caught.value.where.endswith(f"line {document[: document.index('dev')].count(chr(10)) + 1}")
    assert "'train'" in caught.value.message
    assert "data.valid=FILE" in caught.value.message
    assert values(opened(tmp_path / "u.json", json.dumps({"items": rows, "dev": rows}))) == rows


def test_what_was_assumed_about_a_file_is_said_for_its_splits_too(tmp_path: Path) -> None:
    rows = "".join(f"schön {n};a;{'test' if n % 3 else 'train'};\n" for n in range(20))
    path = tmp_path / "t.csv"
    whole = opened(path, ("text;label;split;\n" + rows).encode("cp1252"))
    parts = open_parts(path, DataSettings())
    assert {part.notes for part in parts.values()} == {whole.notes}
    assert any("cp1252" in note for note in whole.notes)


def test_labeled_lines_have_a_label_and_a_text(tmp_path: Path) -> None:
    source = opened(tmp_path / "t.txt", "spam  win a prize\nham see you\n" * 15)
    assert values(source)[:2] == [
        {"label": "spam", "text": "win a prize"},
        {"label": "ham", "text": "see you"},
    ]
    assert "data.format=text" in source.notes[0]
    lists = opened(tmp_path / "ft.txt", "__label__a __label__b both here\n__label__a one\n" * 15)
    assert values(lists)[:2] == [{"label": ["a", "b"], "text": "both here"}, {"label": ["a"], "text": "one"}]
    named = opened(tmp_path / "few.txt", "x one two\ny three\nz\n", format="labeled_lines", bad_rows="skip")
    assert [row["label"] for row in values(named)] == ["x", "y"]
    assert named.bad_rows.count == 1
