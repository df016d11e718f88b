"""CSV, TSV and JSONL give back what was written, and know where it stood."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from seqlab.core.errors import DataError
from seqlab.sources.base import label_of, require_columns, text_of
from seqlab.sources.files import compression as opening
from seqlab.sources.formats.csv_table import CsvTable, guess_delimiter
from seqlab.sources.open_source import open_source
from seqlab.sources.settings import DataSettings

TEXT = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]))


def write(path: Path, content: str | bytes) -> Path:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def cells(path: Path, **options: object) -> list[tuple[object, ...]]:
    return [
        tuple(row.values.values()) for row in open_source(path, DataSettings.model_validate(options)).rows()
    ]


@pytest.mark.slow
@given(
    rows=st.lists(st.tuples(TEXT, TEXT).filter(any), min_size=1), delimiter=st.sampled_from([",", ";", "|"])
)
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_text_survives_a_trip_through_csv(
    rows: list[tuple[str, str]], delimiter: str, tmp_path: Path
) -> None:
    path = tmp_path / "trip.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, delimiter=delimiter).writerows([("a", "b"), *rows])
    assert cells(path, delimiter=delimiter, header=True) == rows


@pytest.mark.slow
@given(rows=st.lists(TEXT, min_size=1))
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_text_survives_a_trip_through_jsonl(rows: list[str], tmp_path: Path) -> None:
    path = write(
        tmp_path / "trip.jsonl",
        "".join(json.dumps({"t": text}, ensure_ascii=len(text) % 2 == 0) + "\n" for text in rows),
    )
    assert cells(path) == [(text,) for text in rows]


def test_words_that_mean_missing_elsewhere_stay_text(tmp_path: Path) -> None:
    path = write(tmp_path / "na.csv", "text,label\nNA,None\nnull,\nnan,007\n")
    assert cells(path) == [("NA", "None"), ("null", ""), ("nan", "007")]


def test_lines_are_physical_whatever_ends_them(tmp_path: Path) -> None:
    path = write(tmp_path / "ends.csv", b'\xef\xbb\xbftext,label\r\na,1\r"two\r\nlines",2\n\n\nb,3')
    source = open_source(path, DataSettings())
    assert source.columns == ["text", "label"]
    assert [(row.line, row.values["text"]) for row in source.rows()] == [
        (2, "a"),
        (3, "two\r\nlines"),
        (7, "b"),
    ]


def test_line_numbers_stay_right_over_many_blocks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opening, "BLOCK", 1009)
    lines = [f"{'x' * (i % 97)},{i}" for i in range(2000)]
    for end in ("\n", "\r\n", "\r"):
        path = write(tmp_path / "long.csv", "text,n" + end + end.join(lines))
        assert all(
            int(row.values["n"]) == row.line - 2 and len(row.values["text"]) == (row.line - 2) % 97
            for row in open_source(path, DataSettings()).rows()
        )


def test_a_table_without_a_header_has_columns_by_number(tmp_path: Path) -> None:
    path = write(tmp_path / "bare.tsv", "Go.\tVa !\nRun!\tCours !\n")
    source = open_source(path, DataSettings(header=False))
    assert source.columns == ["1", "2"]
    assert [(row.line, *row.values.values()) for row in source.rows()] == [
        (1, "Go.", "Va !"),
        (2, "Run!", "Cours !"),
    ]
    assert source.fingerprint() != open_source(path, DataSettings()).fingerprint()
    assert cells(write(tmp_path / "numbers.csv", "0.5,1\n0.25,2\n"), header=False) == [
        ("0.5", "1"),
        ("0.25", "2"),
    ]
    with pytest.raises(
        DataError, match=r"'0.5' is a number, so this line is not a header.\n.*data.header=false"
    ):
        cells(tmp_path / "numbers.csv", header=True)


@pytest.mark.parametrize(
    ("first", "is_row"),
    [
        ("Go.\tVa !", True),
        ("he runs\tsie rennt", True),
        ("en\tfr", False),
        ("he\tsie", False),
        ("English text\tFrench text", False),
    ],
)
def test_names_that_read_like_a_row_are_noticed(first: str, is_row: bool, tmp_path: Path) -> None:
    table = open_source(
        write(tmp_path / "t.tsv", f"{first}\nhe sits\tsie sitzt\nshe runs\ter rennt\n"), DataSettings()
    )
    assert isinstance(table, CsvTable)
    assert table.starts_with_row(table.columns) is is_row


def test_quotation_marks_in_tab_files_are_letters_unless_they_enclose_the_field(tmp_path: Path) -> None:
    path = write(tmp_path / "raw.tsv", 'text\tlabel\n"so" he said\tx\n"a ""b"" c"\ty\n5" disk\tz\n')
    assert cells(path) == [('"so" he said', "x"), ('a "b" c', "y"), ('5" disk', "z")]


def test_a_tab_inside_quotation_marks_belongs_to_the_field_where_the_line_would_have_too_many(
    tmp_path: Path,
) -> None:
    lines = ["text\tlabel", '"a\tb ""c"""\tpos', 'he said "no"\tneg', '"never closed\tneg', '"a"\tb\tneg']
    (tmp_path / "t.tsv").write_text("\n".join(lines) + "\n")
    source = open_source(tmp_path / "t.tsv", DataSettings(bad_rows="skip"))
    assert [row.values["text"] for row in source.rows()] == ['a\tb "c"', 'he said "no"', '"never closed']
    assert "line 5: 3 fields, expected 2 (text,label)" in source.bad_rows.sentence()


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_the_delimiter_is_found(delimiter: str) -> None:
    rows = [("text", "label"), ("well, well; what", "pos"), ('"a" | b\t?', "neg")]
    lines = [delimiter.join('"' + cell.replace('"', '""') + '"' for cell in row) for row in rows]
    assert guess_delimiter(lines) == delimiter


def test_skipped_rows_are_counted_once_however_often_the_source_is_read(tmp_path: Path) -> None:
    path = write(tmp_path / "skip.csv", b'text,label\ngood,1\nbad\n\xff\xfe,2\n"x"y,3\nfine,4\n')
    source = open_source(path, DataSettings(bad_rows="skip"))
    for _ in range(3):
        assert [row.values["label"] for row in source.rows()] == ["1", "4"]
    assert source.bad_rows.count == 3
    assert [message.partition(": ")[0].rpartition("line ")[2] for message in source.bad_rows.messages] == [
        "3",
        "4, column 1",
        "5, column 1",
    ]
    assert "skipped 3 of 5 rows" in source.bad_rows.sentence()


def test_skipping_json_lines_leaves_out_each_kind_of_bad_line(tmp_path: Path) -> None:
    path = write(tmp_path / "skip.jsonl", b'{"t": 1}\n{"u": 2}\n[3]\n{"t": \xff}\nno\n\n{"t": 7}\n')
    source = open_source(path, DataSettings(bad_rows="skip", text="t"))
    assert [(row.line, row.values["t"]) for row in source.rows()] == [(1, 1), (7, 7)]
    assert source.bad_rows.count == 4


def test_columns_that_are_named_are_the_only_ones_every_json_object_needs(tmp_path: Path) -> None:
    path = write(
        tmp_path / "some.jsonl", '{"text": "a", "label": 1, "note": "x"}\n{"text": "b", "label": 0}\n'
    )
    assert len(cells(path, text="text", label="label")) == 2
    assert cells(path) == [("a", 1, "x"), ("b", 0, None)]
    with pytest.raises(DataError, match="'note' is missing"):
        cells(path, text="note")


@pytest.mark.parametrize(
    ("encoding", "name"),
    [("utf-16", "utf-16"), ("latin-1", "latin-1"), ("cp1252", "windows-1252"), ("utf-32-be", "utf-32-be")],
)
def test_other_encodings_are_read_when_they_are_named(encoding: str, name: str, tmp_path: Path) -> None:
    path = write(tmp_path / "other.csv", "text,label\ncafé ü,1\nnaïve,2\n".encode(encoding))
    assert cells(path, encoding=name) == [("café ü", "1"), ("naïve", "2")]


def test_at_most_max_rows_are_read(tmp_path: Path) -> None:
    path = write(tmp_path / "many.csv", "text\n" + "a\n" * 9)
    assert len(cells(path, max_rows=4)) == 4


def test_a_fingerprint_follows_the_content_and_not_the_name(tmp_path: Path) -> None:
    prints = [
        open_source(write(tmp_path / name, text), DataSettings()).fingerprint()
        for name, text in (("a.csv", "t\n1"), ("b.csv", "t\n1"), ("c.csv", "t\n2"))
    ]
    assert prints[0] == prints[1] != prints[2]


def test_cells_are_asked_for_as_text_and_as_labels(tmp_path: Path) -> None:
    path = write(tmp_path / "kinds.jsonl", '{"v": "x"}\n{"v": 3}\n{"v": true}\n{"v": null}\n{"v": " "}\n')
    rows = list(open_source(path, DataSettings()).rows())
    assert [label_of(row, "v") for row in rows[:3]] == ["x", "3", "true"]
    assert text_of(rows[4], "v") == " "
    for row in rows[3:]:
        with pytest.raises(DataError, match=rf"line {row.line}: column 'v' is empty"):
            label_of(row, "v")
    with pytest.raises(DataError, match=r"column 'v' .* a number, expected text"):
        text_of(rows[1], "v")
    with pytest.raises(DataError, match="no column 'w'"):
        require_columns(open_source(path, DataSettings()), ["v", "", "w"])


def survey(path: Path, *, first_answer: str) -> Path:
    answers = [f"{number},3/4,{'Yes' if number % 2 else 'No'},because {number}" for number in range(30)]
    return write(path, "\n".join(["id,date,again,why", f",,{first_answer}", *answers]) + "\n")


def test_a_second_header_is_no_row_and_stays_in_the_table(tmp_path: Path) -> None:
    source = open_source(survey(tmp_path / "s.csv", first_answer="Response,Open-Ended"), DataSettings())
    assert isinstance(source, CsvTable)
    assert next(source.rows()).line == 3
    assert any("line 2" in note and "data.header=true" in note for note in source.notes)
    assert [cells is None for _, cells in source.records()] == [True] + [False] * 30
    kept = open_source(tmp_path / "s.csv", DataSettings(header="true"))
    assert next(kept.rows()).line == 2
    assert kept.fingerprint() != source.fingerprint()


def test_a_row_with_gaps_whose_answer_comes_back_is_a_row(tmp_path: Path) -> None:
    source = open_source(survey(tmp_path / "s.csv", first_answer="Yes,I like it"), DataSettings())
    assert next(source.rows()).line == 2


def test_a_first_row_with_gaps_that_reads_like_a_row_is_one(tmp_path: Path) -> None:
    """Its id and its text come in no other row either."""
    rows = [f"{number},review number {number} is fine,pos,{number}" for number in range(2, 32)]
    table = "\n".join(["id,text,label,score", "1,this one was never rated at all,,", *rows]) + "\n"
    source = open_source(write(tmp_path / "s.csv", table), DataSettings())
    assert next(source.rows()).line == 2


def test_a_list_of_one_is_a_label(tmp_path: Path) -> None:
    lines = [json.dumps({"text": "a", "label": label}) for label in (["pos"], ["pos", "neg"], [])]
    one, several, none = open_source(write(tmp_path / "l.jsonl", "\n".join(lines)), DataSettings()).rows()
    assert label_of(one, "label") == "pos"
    with pytest.raises(DataError, match="2 labels") as caught:
        label_of(several, "label")
    assert "multi_label" in str(caught.value)
    with pytest.raises(DataError, match="is empty"):
        label_of(none, "label")
