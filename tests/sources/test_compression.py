"""Any packing, any place: the same rows; and words for what cannot be opened."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from seqlab.core.errors import DataError
from seqlab.sources.open_source import open_parts, open_source
from seqlab.sources.settings import DataSettings

TABLE = b"text,label\nfine,pos\nbad,neg\n"
REVIEWS = {
    "aclImdb/train/pos/0_9.txt": "fine",
    "aclImdb/train/neg/1_2.txt": "bad",
    "aclImdb/train/unsup/2_0.txt": "no label",
    "aclImdb/train/urls_pos.txt": "http",
    "aclImdb/test/pos/0_8.txt": "good é",
    "aclImdb/test/.DS_Store": "junk",
    "aclImdb/imdb.vocab": "the",
    "aclImdb/README": "read me",
}


def zipped(files: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("name", "pack"),
    [
        ("t.csv", bytes),
        ("t.csv.gz", gzip.compress),
        ("t.csv.xz", lzma.compress),
        ("t.csv.bz2", bz2.compress),
        (
            "t.csv.zip",
            lambda content: zipped({"inner.csv": content, "__MACOSX/._inner.csv": b"\0", ".DS_Store": b"x"}),
        ),
        ("t.zip", lambda content: zipped({"folder/": b"", "folder/inner.csv": content})),
        ("misnamed.csv", gzip.compress),
        ("nameless", bytes),
    ],
)
def test_every_packing_gives_the_same_rows(name: str, pack: Callable[[bytes], bytes], tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(pack(TABLE))
    source = open_source(tmp_path / name, DataSettings())
    for _ in range(2):
        assert [(row.line, *row.values.values()) for row in source.rows()] == [
            (2, "fine", "pos"),
            (3, "bad", "neg"),
        ]


def test_a_missing_file_is_answered_with_the_nearest_name(tmp_path: Path) -> None:
    (tmp_path / "reviews.csv").write_bytes(TABLE)
    with pytest.raises(DataError, match="no such file") as caught:
        open_source(tmp_path / "review.csv", DataSettings())
    assert "Did you mean 'reviews.csv'?" in str(caught.value)
    with pytest.raises(DataError, match="nor its folder"):
        open_source(tmp_path / "nowhere" / "review.csv", DataSettings())


def test_what_cannot_be_read_twice_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.csv")
    with pytest.raises(DataError, match="not a regular file"):
        open_source(tmp_path / "pipe.csv", DataSettings())


def test_a_json_file_without_an_ending_is_recognised(tmp_path: Path) -> None:
    (tmp_path / "data").write_text('{"text": "a"}\n')
    assert open_source(tmp_path / "data", DataSettings()).columns == ["text"]


def write_reviews(tmp_path: Path, kind: str) -> Path:
    contents = {name: text.encode() for name, text in REVIEWS.items()}
    contents["aclImdb/train/neg/3_1.txt.gz"] = gzip.compress(b"dull")
    if kind == "zip":
        (tmp_path / "all.zip").write_bytes(zipped(contents))
        return tmp_path / "all.zip"
    if kind == "tar.gz":
        with tarfile.open(tmp_path / "all.tar.gz", "w:gz") as archive:
            for name, content in sorted(contents.items()):
                member = tarfile.TarInfo(name)
                member.size = len(content)
                archive.addfile(member, io.BytesIO(content))
        return tmp_path / "all.tar.gz"
    for name, content in contents.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(content)
    return tmp_path / "aclImdb"


@pytest.mark.parametrize("kind", ["folder", "zip", "tar.gz"])
def test_folders_of_texts_are_read_with_their_labels_and_parts(kind: str, tmp_path: Path) -> None:
    parts = open_parts(write_reviews(tmp_path, kind), DataSettings())
    found = {
        part: sorted((row.values["label"], row.values["text"]) for row in source.rows())
        for part, source in parts.items()
    }
    assert found == {"train": [("neg", "bad"), ("neg", "dull"), ("pos", "fine")], "test": [("pos", "good é")]}


def test_the_fingerprint_of_a_folder_changes_with_one_text(tmp_path: Path) -> None:
    folder = write_reviews(tmp_path, "folder")
    before = open_source(folder, DataSettings()).fingerprint()
    assert open_source(folder, DataSettings()).fingerprint() == before
    (folder / "train/pos/0_9.txt").write_text("Fine")
    assert open_source(folder, DataSettings()).fingerprint() != before


def test_a_bad_byte_in_one_text_of_a_folder_is_named_or_skipped(tmp_path: Path) -> None:
    folder = write_reviews(tmp_path, "folder")
    (folder / "train/pos/0_9.txt").write_bytes(b"one\ntw\xff")
    with pytest.raises(DataError, match=r"train/pos/0_9.txt, line 2: not utf-8 \(bytes ff\)"):
        list(open_source(folder, DataSettings()).rows())
    source = open_source(folder, DataSettings(bad_rows="skip"))
    assert (len(list(source.rows())), source.bad_rows.count) == (2, 1)


def test_a_tar_with_a_link_is_refused(tmp_path: Path) -> None:
    with tarfile.open(tmp_path / "link.tar", "w") as archive:
        member = tarfile.TarInfo("pos/a.txt")
        member.type, member.linkname = tarfile.SYMTYPE, "/etc/hostname"
        archive.addfile(member)
    with pytest.raises(DataError, match="is a link or a device"):
        open_source(tmp_path / "link.tar", DataSettings())


def test_a_truncated_tar_is_refused(tmp_path: Path) -> None:
    path = write_reviews(tmp_path, "tar.gz")
    path.write_bytes(path.read_bytes()[:-40])
    with pytest.raises(DataError, match="truncated or corrupted"):
        open_source(path, DataSettings())


def test_tables_named_train_and_test_in_one_folder_are_its_parts(tmp_path: Path) -> None:
    for name in ("train.csv.gz", "dev.csv.gz", "test.csv.gz"):
        (tmp_path / name).write_bytes(gzip.compress(TABLE))
    assert [Path(source.name).name for source in open_parts(tmp_path, DataSettings()).values()] == [
        "train.csv.gz",
        "dev.csv.gz",
        "test.csv.gz",
    ]
    with pytest.raises(DataError, match="3 tables") as caught:
        open_source(tmp_path, DataSettings())
    assert "train.csv.gz" in str(caught.value)


@pytest.mark.parametrize("other", ["train.tsv", "training.csv", "train.csv.gz"])
def test_two_files_for_one_split_are_an_error_that_names_both(other: str, tmp_path: Path) -> None:
    for name in ("train.csv", other):
        (tmp_path / name).write_text("text,label\na,b\n", encoding="utf-8")
    with pytest.raises(DataError) as caught:
        open_parts(tmp_path, DataSettings())
    assert caught.value.where == str(tmp_path)
    assert "train.csv" in caught.value.message
    assert other in caught.value.message


def test_a_folder_with_nothing_to_read_says_what_is_understood(tmp_path: Path) -> None:
    (tmp_path / "photo.png").write_bytes(b"\x89PNG")
    with pytest.raises(DataError, match="no data that seqlab can read"):
        open_source(tmp_path, DataSettings())


def test_a_split_column_is_honoured(tmp_path: Path) -> None:
    path = tmp_path / "all.csv"
    path.write_text("text,label,split\na,1,train\nb,0,val\nc,1,test\nd,0,Train\n")
    parts = open_parts(path, DataSettings())
    assert {part: [row.values["text"] for row in source.rows()] for part, source in parts.items()} == {
        "train": ["a", "d"],
        "valid": ["b"],
        "test": ["c"],
    }
    assert all(source.columns == ["text", "label"] for source in parts.values())
    assert len({source.fingerprint() for source in parts.values()}) == 3
    path.write_text("text,split\na,train\nb,tset\n")
    with pytest.raises(DataError, match=r"line 3: column 'split' contains 'tset'"):
        open_parts(path, DataSettings())


def test_a_split_column_about_something_else_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "all.csv"
    path.write_text("text,split\na,left\nb,right\n")
    assert list(open_parts(path, DataSettings())) == ["train"]


def test_parquet_gives_its_rows_and_their_numbers(tmp_path: Path) -> None:
    arrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    texts = [f"film {i}" for i in range(2500)]
    parquet.write_table(
        arrow.table({"text": texts, "label": [i % 3 for i in range(2500)]}), tmp_path / "t.parquet"
    )
    source = open_source(tmp_path / "t.parquet", DataSettings())
    assert source.columns == ["text", "label"]
    assert [(row.values["text"], row.values["label"], row.line) for row in source.rows()] == [
        (text, i % 3, i + 1) for i, text in enumerate(texts)
    ]
    (tmp_path / "cut.parquet").write_bytes((tmp_path / "t.parquet").read_bytes()[:-9])
    with pytest.raises(DataError, match="not a valid Parquet file"):
        open_source(tmp_path / "cut.parquet", DataSettings())
