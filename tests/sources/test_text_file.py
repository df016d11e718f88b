"""Plain text as lines and as one long string."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from seqlab.core.errors import DataError
from seqlab.sources.base import TextSource
from seqlab.sources.files import compression as opening
from seqlab.sources.files import lines
from seqlab.sources.open_source import open_source
from seqlab.sources.settings import DataSettings

ANY = st.characters(exclude_characters="\0\ufeff", exclude_categories=["Cs"])
# Line ends of all kinds and characters of all widths, often enough to meet every border of a block.
TEXT = (
    st.lists(st.one_of(ANY, st.sampled_from(["\n", "\r", "\r\n", "a", "é", "€", "🙂"])))
    .map("".join)
    .filter(lambda text: bool(text.strip()))
)


def text_source(path: Path, **options: object) -> TextSource:
    source = open_source(path, DataSettings.model_validate(options))
    assert isinstance(source, TextSource)
    return source


@pytest.mark.slow
@given(text=TEXT, size=st.integers(1, 9), block=st.integers(1, 7))
@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_chunks_join_to_the_text_and_end_at_line_ends_where_they_can(
    text: str, size: int, block: int, tmp_path: Path
) -> None:
    path = tmp_path / "any.txt"
    path.write_bytes(text.encode())
    with pytest.MonkeyPatch.context() as patch:  # tiny blocks cut characters and CR LF in half
        patch.setattr(opening, "BLOCK", block)
        chunks = list(text_source(path).chunks(size))
        rows = [row.values["text"] for row in text_source(path).rows()]
    assert "".join(chunks) == text
    assert all(0 < len(chunk) <= size for chunk in chunks)
    assert all(chunk.endswith("\n") or len(chunk) == size for chunk in chunks[:-1])
    assert rows == text.replace("\r\n", "\n").replace("\r", "\n").removesuffix("\n").split("\n")


def test_a_line_of_any_length_streams_but_is_no_row(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines, "LONGEST_LINE", 3_000_000)
    path = tmp_path / "one-line.txt"
    path.write_text("short\n" + "é" * 4_000_000)
    assert sum(len(chunk) for chunk in text_source(path).chunks(1000)) == 4_000_006
    with pytest.raises(DataError, match="line 2 is longer than 3"):
        list(text_source(path).rows())


def test_several_files_are_read_in_the_order_of_their_names(tmp_path: Path) -> None:
    for name in ("b.txt", "a.txt", ".hidden.txt", "c.md"):
        (tmp_path / name).write_text(f"{name}\n")
    assert "".join(text_source(tmp_path).chunks(5)) == "a.txt\nb.txt\nc.md\n"
    assert [(Path(row.file).name, row.line) for row in text_source(tmp_path).rows()] == [
        ("a.txt", 1),
        ("b.txt", 1),
        ("c.md", 1),
    ]


def test_a_bad_line_is_named_or_left_out_of_the_string(tmp_path: Path) -> None:
    path = tmp_path / "bad.txt"
    path.write_bytes(b"one\ntwo \xff\nthree\n")
    with pytest.raises(DataError, match="line 2, column 5"):
        list(text_source(path).chunks(100))
    source = text_source(path, bad_rows="skip")
    assert "".join(source.chunks(100)) == "one\nthree\n"
    assert [row.line for row in source.rows()] == [1, 3]
    assert source.bad_rows.count == 1


def test_max_rows_limits_the_string_too(tmp_path: Path) -> None:
    path = tmp_path / "rows.txt"
    path.write_text("one\ntwo\nthree\n")
    assert "".join(text_source(path, max_rows=2).chunks(100)) == "one\ntwo\n"


def test_text_files_in_sub_folders_are_counted_where_they_are_left_out(tmp_path: Path) -> None:
    (tmp_path / "deeper" / "still").mkdir(parents=True)
    for name in ("a.md", "b.md", "deeper/c.md", "deeper/still/d.md", "deeper/picture.png"):
        (tmp_path / name).write_text(f"{name}\n", encoding="utf-8")
    source = open_source(tmp_path, DataSettings())
    assert [row.values["text"] for row in source.rows()] == ["a.md", "b.md"]
    assert any("2 text files in subfolders" in note and "data.format=text" in note for note in source.notes)
    assert not any("subfolders" in note for note in open_source(tmp_path, DataSettings(format="text")).notes)
    assert not any(
        "subfolders" in note for note in open_source(tmp_path / "deeper" / "still", DataSettings()).notes
    )
