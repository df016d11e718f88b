"""Files of word vectors, read by hand as well, and files that are not what they say."""

from __future__ import annotations

import gzip
import struct
from pathlib import Path

import numpy as np
import pytest

from seqlab.core.errors import DataError
from seqlab.tokens import vector_files
from seqlab.tokens.vector_files import read_word_vectors, width_of
from seqlab.tokens.word_vectors import WordVectors

ROWS = {"the": [0.5, -1.25, 3e-7], "Ärger": [1.0, 2.0, 3.0], "don't": [-0.1, 0.2, 1e10]}
LINES = "".join(f"{word} {' '.join(map(repr, row))}\n" for word, row in ROWS.items())


def binary(rows: dict[str, list[float]], *, line_ends: bool = True, promised: int | None = None) -> bytes:
    """As word2vec writes it: the numbers as float32, a line end after each word or none."""
    body = b"".join(
        word.encode() + b" " + struct.pack("<3f", *row) + (b"\n" if line_ends else b"")
        for word, row in rows.items()
    )
    return f"{len(rows) if promised is None else promised} 3\n".encode() + body


def check(table: WordVectors) -> None:
    assert table.words == list(ROWS)
    assert table.vectors.dtype == np.float32
    assert table.vectors.tolist() == [
        [struct.unpack("<f", struct.pack("<f", value))[0] for value in row] for row in ROWS.values()
    ]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.vec", f"3 3\n{LINES}".encode()),
        ("glove.txt", LINES.encode()),
        ("glove.txt", LINES.replace("\n", " \r\n").encode()),
        ("a.vec.gz", gzip.compress(f"3 3\n{LINES}".encode(), mtime=0)),
        ("a.bin", binary(ROWS)),
        ("a.bin", binary(ROWS, line_ends=False)),
        ("a.bin.gz", gzip.compress(binary(ROWS), mtime=0)),
    ],
    ids=["word2vec", "glove", "line ends", "packed", "binary", "binary without line ends", "packed binary"],
)
def test_every_format_gives_the_same_words_and_numbers(name: str, content: bytes, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    check(read_word_vectors(path))
    assert width_of(path) == 3
    assert read_word_vectors(path, is_needed={"Ärger"}.__contains__).words == ["Ärger"]


def test_a_word_may_have_blanks_inside_but_numbers_too_many_are_no_word(tmp_path: Path) -> None:
    path = tmp_path / "glove.txt"
    path.write_text("the 1 2\n. . . 3 4\nNew York 5 6\n", encoding="utf-8")
    assert read_word_vectors(path).words == ["the", ". . .", "New York"]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.vec", b"2 2\na 1 2\nb 3 nan\n", r"line 3: value 2 of the word 'b' is not finite"),
        (
            "a.vec",
            b"2 2\na 1 2\nb 3 1e39\n",
            r"line 3: value 2 of the word 'b' is not finite in float32 \(inf\)",
        ),
        ("a.vec", b"3 2\na 1 2\nb 3 4\n\n", r"line 4: is empty"),
        (
            "a.vec",
            b"3 2\naa 1.5 2.5\nbb 3.5 4.5\n",
            r"ends after 2 of the 3 words that the header declares",
        ),
        ("a.vec", b"1 2\na 1 2\nb 3 4\n", r"line 3: the header declares 1 words"),
        ("a.txt", b"a 1 2 3\nb 3 4\n", r"line 2: the word 'b' has 2 values, expected 3"),
        ("a.txt", b"a 1 2\nb 3 4 5\n", r"line 2: the word 'b' has 3 values, expected 2"),
        ("a.txt", b"a 1 2\nb 3 x\n", r"line 2: 'x' is not a number.\n.*NAME.bin"),
        ("a.txt", b"a 1 2\nb 3 4\na 5 6\n", r"line 3: the word 'a' occurs twice.* line 1"),
        ("a.txt", b"a 1 2\n\xff\xfe 3 4\n", r"line 2: is not UTF-8"),
        ("a.txt", b"only\nwords\n", r"line 1: a word with 0 values"),
        ("a.txt", b"", r"no word vectors"),
        (
            "a.vec",
            b"999999999 300\na 1 2\n",
            r"line 1: declares 999,999,999 words of dimension 300, .* 20 bytes",
        ),
        (
            "a.vec",
            b"2 999999\na 1 2\n",
            r"line 1: declares 2 words of dimension 999999; .* 1 to 20,000",
        ),
        ("a.vec", b"9" * 5000 + b" 3\na 1 2\n", r"line 1: declares 9{59}… words"),
        (
            "a.bin",
            b"9999999999 300\nab ",
            r"line 1: declares 9,999,999,999 words of dimension 300, .* 18 bytes",
        ),
        ("a.bin", b"not a header", r"its beginning: .*number of words"),
        ("a.bin", binary(ROWS, promised=2) + b"x" * 60, r"its end: .* after the 2 words"),
        (
            "a.bin.gz",
            gzip.compress(binary(ROWS, promised=900_000_000), mtime=0),
            r"word 4: the file ends inside the word",
        ),
        ("a.bin", binary(ROWS)[:-6], r"word 3: the file ends inside its values"),
        ("a.bin", b"1 2\n" + b"\xff\xff " + struct.pack("<2f", 1, 2), r"word 1: is not UTF-8"),
        (
            "a.bin",
            b"1 2\nab " + struct.pack("<2f", 1, float("inf")),
            r"word 1: value 2 of the word 'ab' is not finite",
        ),
    ],
)
def test_a_file_that_is_not_what_it_says_is_refused_with_its_line(
    name: str, content: bytes, message: str, tmp_path: Path
) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(DataError, match=message):
        read_word_vectors(path)


def test_an_endless_line_in_a_small_packed_file_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vector_files, "LONGEST_LINE", 1000)
    path = tmp_path / "a.txt.gz"
    path.write_bytes(gzip.compress(b"a" * 1_000_000, mtime=0))
    with pytest.raises(DataError, match="line 1: is longer than 1,000 bytes"):
        read_word_vectors(path)
    assert read_refused(tmp_path, monkeypatch) == "more than 5 numbers."


def read_refused(folder: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setattr(vector_files, "MOST_NUMBERS", 5)
    path = folder / "many.txt"
    path.write_text(LINES, encoding="utf-8")
    with pytest.raises(DataError) as refused:
        read_word_vectors(path)
    return refused.value.what


def test_a_table_needs_a_row_for_every_word_and_every_word_once() -> None:
    with pytest.raises(ValueError, match="2 words need one vector each"):
        WordVectors(["a", "b"], np.zeros((3, 2)))
    with pytest.raises(ValueError, match="twice"):
        WordVectors(["a", "a"], np.zeros((2, 2)))
    assert WordVectors(["a", "b"], np.array([[3.0, 4.0], [0.0, 0.0]])).units.tolist() == [
        pytest.approx([0.6, 0.8]),
        [0.0, 0.0],
    ]
