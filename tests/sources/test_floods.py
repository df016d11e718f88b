"""Small files that would fill the memory or take for ever are refused early, with a limit and what raises it."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import random
import tarfile
import time
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from seqlab.core.errors import DataError
from seqlab.sources import column_roles
from seqlab.sources.base import Row, Source
from seqlab.sources.column_profile import ColumnProfile, profile
from seqlab.sources.column_roles import find_roles
from seqlab.sources.files import archives
from seqlab.sources.files.lines import Lines
from seqlab.sources.files.trees import open_tree
from seqlab.sources.formats import csv_table, table_head, tmx
from seqlab.sources.open_source import open_source
from seqlab.sources.settings import DataSettings
from seqlab.sources.splitting import Splits, hold_out
from seqlab.tokens.labels import Labels


def read_all(path: Path) -> int:
    tree = open_tree(path)
    return sum(len(content) for _, content in tree.read(tree.names))


def zip_of(path: Path, members: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return path


def test_many_members_that_are_small_alone_and_huge_together_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = zip_of(tmp_path / "bomb.zip", {f"pos/{n}.txt": b"good film " * 50_000 for n in range(12)})
    assert read_all(path) == 6_000_000
    monkeypatch.setattr(archives, "SMALL_ARCHIVE", 3_000_000)
    with pytest.raises(DataError, match=r"bomb\.zip.* 6\.0 MB") as caught:
        open_tree(path)
    assert "unpack it yourself" in caught.value.cure


def test_members_that_share_their_bytes_do_not_hide_the_ratio(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = zip_of(
        tmp_path / "shared.zip", {"pos/0.txt": random.Random(1).randbytes(20_000), "pos/1.txt": b""}
    )
    monkeypatch.setattr(archives, "SMALL_ARCHIVE", 50_000)
    with zipfile.ZipFile(path) as archive:
        first, _ = archive.infolist()
        archive.filelist = [first] * 200
        with pytest.raises(DataError, match=r"shared\.zip"):
            archives.zip_files(archive, where=str(path))


def test_more_members_than_anyone_packs_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = zip_of(tmp_path / "many.zip", {f"pos/{n}.txt": b"a" for n in range(12)})
    monkeypatch.setattr(archives, "MOST_MEMBERS", 11)
    with pytest.raises(DataError, match=r"many\.zip.* 12 members.* 11"):
        open_tree(path)


def tarred(content: bytes, compress: Callable[[bytes], bytes]) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        member = tarfile.TarInfo("pos/0.txt")
        member.size = len(content)
        archive.addfile(member, io.BytesIO(content))
    return compress(buffer.getvalue())


@pytest.mark.parametrize(
    ("ending", "compress"), [("gz", gzip.compress), ("xz", lzma.compress), ("bz2", bz2.compress)]
)
def test_a_stream_that_becomes_far_longer_than_its_file_is_refused(
    ending: str, compress: Callable[[bytes], bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table, tree = tmp_path / f"t.csv.{ending}", tmp_path / f"t.tar.{ending}"
    table.write_bytes(compress(b"text,label\n" + b"good film,pos\n" * 300_000))
    tree.write_bytes(tarred(b"good film " * 400_000, compress))
    assert sum(1 for _ in open_source(table, DataSettings()).rows()) == 300_000
    monkeypatch.setattr(archives, "SMALL_ARCHIVE", 2_000_000)
    with pytest.raises(DataError, match=rf"t\.csv\.{ending}"):
        list(open_source(table, DataSettings()).rows())
    with pytest.raises(DataError, match=rf"t\.tar\.{ending}"):
        open_tree(tree)


def test_a_compressed_member_that_unpacks_to_far_more_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = zip_of(tmp_path / "inner.zip", {"pos/0.txt.gz": gzip.compress(bytes(3_000_000))})
    monkeypatch.setattr(archives, "SMALL_MEMBER", 1_000_000)
    with pytest.raises(DataError, match=r"0\.txt\.gz.* 3\.0 MB"):
        read_all(path)


def memory_of(languages: list[str], path: Path) -> Path:
    variants = "".join(f'<tuv xml:lang="{code}"><seg>in {code}</seg></tuv>' for code in languages)
    path.write_text(f'<tmx><header srclang="en"/><body><tu>{variants}</tu></body></tmx>', encoding="utf-8")
    return path


def test_a_memory_in_very_many_languages_is_read_once_two_are_named(tmp_path: Path) -> None:
    codes = [f"l{number}" for number in range(tmx.MOST_LANGUAGES)]
    path = memory_of([*codes, "en", "de"], tmp_path / "all.tmx")
    with pytest.raises(DataError, match=r"all\.tmx.* 1,000 languages") as caught:
        open_source(path, DataSettings())
    assert "data.source" in caught.value.cure
    source = open_source(path, DataSettings(source="en", target="de"))
    assert [row.values for row in source.rows()] == [{"en": "in en", "de": "in de"}]


def test_more_labels_than_the_limit_are_refused_with_the_setting_that_raises_it() -> None:
    labels = [f"label {number}" for number in range(1001)]
    with pytest.raises(DataError, match=r"notes\.csv.* 1,001 .*data\.max_labels=1000") as caught:
        Labels.fit(labels, most=DataSettings().max_labels, where="notes.csv")
    assert "data.max_labels=1001" in caught.value.cure
    assert len(Labels.fit(labels, most=1001)) == 1001


def hold_out_labeled(source: Source, *, key_columns: Sequence[str] = ()) -> Splits:
    return hold_out(
        source,
        how="content",
        valid_share=0.1,
        test_share=0.1,
        seed=1,
        key_columns=key_columns,
        labels=lambda row: [row.values["label"]],
    )


def test_labels_that_never_repeat_are_not_called_too_few_rows(tmp_path: Path) -> None:
    path = tmp_path / "ids.csv"
    path.write_text("text,label\n" + "".join(f"text {n},id{n}\n" for n in range(200)), encoding="utf-8")
    source = open_source(path, DataSettings())
    with pytest.raises(DataError, match=r"ids\.csv.*labels do not repeat") as caught:
        hold_out_labeled(source)
    assert "data.label" in caught.value.cure


@pytest.mark.parametrize("num_others", [0, 1, 3])
def test_equal_texts_are_named_as_the_cause_when_no_row_can_be_held_out(
    num_others: int, tmp_path: Path
) -> None:
    path = tmp_path / "same.csv"
    texts = ["the same"] * 60 + [f"another {n}" for n in range(num_others)]
    path.write_text(
        "text,label\n" + "".join(f"{text},{n % 2}\n" for n, text in enumerate(texts)), encoding="utf-8"
    )
    source = open_source(path, DataSettings())
    with pytest.raises(
        DataError, match=rf"same\.csv.* 60 of {len(texts)} rows are identical in text"
    ) as caught:
        hold_out_labeled(source, key_columns=["text"])
    assert "data.text" in caught.value.cure
    assert "data.split=random" in caught.value.cure


def wide_table(path: Path, num_columns: int) -> Path:
    names = ",".join(f"c{number}" for number in range(num_columns))
    path.write_text(names + "\n" + ",".join(["x"] * num_columns) + "\n", encoding="utf-8")
    return path


@pytest.mark.parametrize("header", ["auto", "true", "false"])
def test_more_columns_than_any_table_has_are_refused(
    header: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = wide_table(tmp_path / "wide.csv", 1001)
    assert len(open_source(path, DataSettings(header=header)).columns) == 1001
    monkeypatch.setattr(table_head, "MOST_COLUMNS", 1000)
    with pytest.raises(DataError, match=r"wide\.csv.* 1,001 columns.* 1,000") as caught:
        open_source(path, DataSettings(header=header))
    assert caught.value.cure


@pytest.mark.parametrize(("most_cells", "num_rows"), [(10_000, 40), (600, 30), (100, 20)])
def test_of_a_wide_table_fewer_rows_are_looked_at(
    most_cells: int, num_rows: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every cell costs time, and a table of 40,000 columns and a thousand rows would take ten minutes."""
    path = tmp_path / "wide.csv"
    names = ["text", "label", *(f"c{number}" for number in range(18))]
    rows = [[f"a film {n}", "pn"[n % 2], *["x"] * 18] for n in range(40)]
    path.write_text("\n".join(map(",".join, [names, *rows])), encoding="utf-8")
    profiled = list[int]()

    def count_rows(rows: list[Row], column: str) -> ColumnProfile:
        profiled.append(len(rows))
        return profile(rows, column)

    monkeypatch.setattr(column_roles, "MOST_CELLS", most_cells)
    monkeypatch.setattr(column_roles, "profile", count_rows)
    assert find_roles(open_source(path, DataSettings())).text == "text"
    assert set(profiled) == {num_rows}


@pytest.mark.slow
def test_the_time_for_a_header_grows_with_its_length_and_not_its_square(tmp_path: Path) -> None:
    """Ten times as many columns may take twenty times as long; by the square, it would be a hundred times."""
    seconds = []
    for num_columns in (2_000, 20_000):
        path = wide_table(tmp_path / f"{num_columns}.csv", num_columns)
        clock = time.process_time()
        assert len(open_source(path, DataSettings()).columns) == num_columns
        seconds.append(time.process_time() - clock)
    assert seconds[1] < 20 * max(seconds[0], 0.02)


def test_rows_with_stray_quotation_marks_are_found_without_reading_the_file_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file with thousands of them would be read thousands of times."""
    passes = []

    def count_pass(path: Path, **options: Any) -> Lines:
        passes.append(path)
        return Lines(path, **options)

    rows = [f'"bad" text {n},x' if n % 20 == 0 else f"good text {n},y" for n in range(200)]
    path = tmp_path / "stray.csv"
    path.write_text("\n".join(["text,label", *rows]) + "\n", encoding="utf-8")
    source = open_source(path, DataSettings())
    monkeypatch.setattr(csv_table, "Lines", count_pass)
    assert sum(1 for _ in source.rows()) == 190
    assert source.bad_rows.messages[1].startswith(f"{path}, line 22, column 1:")
    assert len(passes) == 1


@pytest.mark.slow
def test_the_time_for_a_long_line_grows_with_its_length_and_not_its_square(tmp_path: Path) -> None:
    seconds = []
    for size in (2, 16):
        path = tmp_path / f"{size}.txt"
        path.write_text("x" * (size << 20), encoding="utf-8")
        source = hold_out(
            open_source(path, DataSettings()), how="tail", valid_share=0.1, test_share=0.1, seed=1
        ).train
        clock = time.process_time()
        assert sum(1 for _ in source.rows()) == 1
        seconds.append(time.process_time() - clock)
    assert seconds[1] < 20 * max(seconds[0], 0.02)


@pytest.mark.parametrize(
    "row", ['{"text": "a text", "list": [{"part": %s}]}', '{"text": "a text", "cell": %s}']
)
@pytest.mark.parametrize(("opening", "closing"), [("[", "]"), ('{"k": ', "}")])
def test_json_that_is_nested_as_deeply_as_the_parser_allows_is_read(
    row: str, opening: str, closing: str, tmp_path: Path
) -> None:
    """The search for spans looks into every value."""
    path = tmp_path / "deep.jsonl"
    path.write_text(row % (opening * 800 + "1" + closing * 800) + "\n", encoding="utf-8")
    assert find_roles(open_source(path, DataSettings())).text == "text"
