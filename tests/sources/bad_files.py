"""Bad files, and the words that must be said about each of them.

Every entry is a file that someone will hand to seqlab one day. Reading it must end in one DataError of at
most 12 lines that holds these words, never in a traceback. Entries of the layer `task` can be read, but not
learned from.
"""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import random
import zipfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

GOOD = b"text,label\n" + b"".join(b"a fine film %d,pos\na dull film %d,neg\n" % (i, i) for i in range(30))


@dataclass(frozen=True)
class BadFile:
    """A file to write, the settings (by their names in the section `data`) to read it with, and words of the
    message.
    """

    name: str
    build: Callable[[], bytes]
    words: tuple[str, ...]
    settings: dict[str, str] = field(default_factory=dict)
    layer: Literal["sources", "task"] = "sources"
    beside: dict[str, Callable[[], bytes]] = field(
        default_factory=dict
    )  # further files in the same folder, by name

    def write(self, folder: Path) -> Path:
        for name, build in {self.name: self.build, **self.beside}.items():
            (folder / name).write_bytes(build())
        return folder / self.name


def _lines(*lines: str) -> Callable[[], bytes]:
    return lambda: "".join(line + "\n" for line in lines).encode()


def _jsonl(*lines: str) -> Callable[[], bytes]:
    first = [json.dumps({"text": f"film {i}", "label": "pos"}) for i in range(3)]
    return _lines(*first, *lines)


def _zip(**members: bytes) -> Callable[[], bytes]:
    def build() -> bytes:
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, content in members.items():
                archive.writestr(name.replace("__dot__", ".").replace("__up__", "../"), content)
        return buffer.getvalue()

    return build


def _linked_zip() -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        link = zipfile.ZipInfo("train.csv")
        link.external_attr = 0o120777 << 16
        archive.writestr(link, "/etc/hostname")
    return buffer.getvalue()


def _flipped(content: bytes) -> bytes:
    middle = len(content) // 2
    return content[:middle] + bytes([content[middle] ^ 0xFF]) + content[middle + 1 :]


def _noise(size: int) -> bytes:
    """Text that does not compress, so that cutting an archive cuts the data."""
    return b"text,label\n" + b"".join(b"%x,pos\n" % random.Random(i).getrandbits(256) for i in range(size))


def _half(content: bytes) -> bytes:
    return content[: len(content) // 2]


STEPS = ("id,x,y,label", "a,1,2,up", "a,2,3,up")
SERIES = {"sequence": "id", "label": "label"}

BAD_FILES = [
    # nothing in it
    BadFile("empty.csv", lambda: b"", ("empty.csv: is empty", "header line")),
    BadFile("blank-lines.csv", lambda: b"\n\r\n\n", ("is empty", "header line")),
    BadFile("header-only.csv", lambda: b"text,label\n", ("header line but no rows", "line 2")),
    BadFile("empty.txt", lambda: b"", ("is empty", "some text")),
    BadFile("blanks.txt", lambda: b" \n\n\t\n", ("is empty", "some text")),
    BadFile("empty.jsonl", lambda: b"", ("is empty", "one JSON object per line")),
    BadFile("empty.tsv.gz", lambda: gzip.compress(b""), ("is empty", "header line")),
    # encodings
    BadFile(
        "latin.csv",
        lambda: "text,label\nfine größe,pos\n".encode() + "ün café,neg\n".encode("latin-1"),
        ("line 3, column 1", "fc 6e", "data.encoding=cp1252", "skip"),
    ),
    BadFile(
        "latin.txt",
        lambda: GOOD[:-1] + "äöü\n".encode() + "un café\n".encode("latin-1"),
        ("line 62, column 7", "e9 0a", "data.encoding=cp1252"),
    ),
    BadFile(
        "latin.jsonl",
        lambda: '{"text": "größe"}\n'.encode() + '{"text": "é"}\n'.encode("latin-1"),
        ("line 2, column 11", "e9", "data.encoding=cp1252"),
    ),
    BadFile(
        "cut-character.txt", lambda: "fine\ncafé".encode()[:-1], ("line 2, column 4", "c3", "data.encoding")
    ),
    BadFile("unknown-encoding.csv", lambda: GOOD, ("encoding 'utf-9'", "utf-16"), {"encoding": "utf-9"}),
    BadFile(
        "not-utf16.csv",
        lambda: GOOD[: len(GOOD) // 2 * 2 - 1],
        ("not utf-16", "encoding"),
        {"encoding": "utf-16-le"},
    ),
    BadFile("nul.csv", lambda: b"text,label\nfine,pos\nb\0d,neg\n", ("line 3", "NUL", "text file")),
    BadFile("nul.txt", lambda: b"one\ntwo\0\n", ("line 2", "NUL")),
    # tables
    BadFile(
        "ragged-long.csv",
        _lines("text,label", "fine,pos", "fine, really,pos"),
        ("ragged-long.csv, line 3: 3 fields, expected 2 (text,label).", "Quote"),
    ),
    BadFile(
        "ragged-short.csv",
        _lines("text,label", "fine,pos", "fine"),
        ("line 3: 1 field, expected 2 (text,label).", "data.bad_rows=skip"),
    ),
    BadFile(
        "ragged.tsv",
        _lines("text\tlabel", "fine\tpos", "fi\tne\tpos"),
        ("line 3: 3 fields, expected 2 (text,label).",),
    ),
    BadFile(
        "mixed-line-ends.csv", lambda: b"text,label\r\na,b\rc,d\n\ne,f,g\n", ("line 5: 3 fields, expected 2",)
    ),
    BadFile(
        "ragged-after-mark.csv",
        lambda: b"\xef\xbb\xbftext,label\na\n",
        ("line 2: 1 field, expected 2 (text,label).",),
    ),
    BadFile(
        "other-delimiter.csv",
        _lines("text,label", "fine,pos"),
        ("no column 'label'", "Available: text,label"),
        {"delimiter": ";", "label": "label"},
    ),
    BadFile(
        "unclosed-quote.csv",
        _lines("text,label", "fine,pos", 'bad,"neg', "fine,pos"),
        ("line 3, column 5", "never closed", "double"),
    ),
    BadFile(
        "unclosed-later.csv",
        _lines("text,label", '"a', 'b","neg', "fine,pos"),
        ("line 3, column 4", "never closed"),
    ),
    BadFile(
        "quote-inside.csv",
        _lines("text,label", '"he said "hi" to us",pos'),
        ("line 2, column 1", "in the middle of a field", "double"),
    ),
    BadFile(
        "swallowed-line.csv",
        _lines("text,label", '"fine,pos', 'and",bad,neg'),
        ("line 2: 3 fields, expected 2", "line 3", "quotation mark"),
    ),
    BadFile(
        "huge-field.csv",
        lambda: b'text,label\n"' + b"word " * 20 * 110_000,
        ("line 2, column 1", "longer than 10.0 MB"),
    ),
    BadFile(
        "long-line.csv",
        lambda: b"text,label\n" + b"word " * 10_500_000,
        ("line 2", "longer than 50.0 MB", "line breaks"),
    ),
    BadFile(
        "no-header.csv",
        _lines("5.1,3.5,iris", "4.9,3.0,iris"),
        ("line 1", "'5.1' is a number", "first line"),
        {"header": "true"},
    ),
    BadFile(
        "wrong-column.csv",
        lambda: GOOD,
        ("no column 'txet'", "Did you mean 'text'?", "label"),
        {"text": "txet"},
    ),
    BadFile(
        "numbers-only.csv", _lines("a,b", "1.5,2", "2.5,4"), ("a, b", "data.text=NAME", "data.sequence=NAME")
    ),
    BadFile(
        "nothing-usable.csv",
        _lines("text,label", "a", "b"),
        ("none of its 2 rows", "line 2", "line 3"),
        {"bad_rows": "skip"},
    ),
    # JSON lines
    BadFile(
        "broken.jsonl",
        _jsonl('{"text": "fine", "label": }'),
        ("line 4, column 27", "JSON", "data.bad_rows=skip"),
    ),
    BadFile("cut.jsonl", _jsonl('{"text": "fi'), ("line 4", "JSON")),
    BadFile(
        "cut-array.json",
        lambda: b'[{"text": "a"},\n {"text": "b"}, \n',
        ("line 3", "JSON", "array of objects"),
    ),
    BadFile("number.json", lambda: b"17\n", ("array of objects",)),
    BadFile("array-of-texts.json", lambda: b'["a",\n "b"]', ("line 1", "a string, expected an object")),
    BadFile(
        "half-in-list.jsonl",
        _jsonl('{"text": "fine", "label": ["a", "\\ud83d"]}'),
        ("line 4", "surrogate", "ud83d"),
    ),
    BadFile("not-an-object.jsonl", _jsonl('"fine"'), ("line 4", "a string, expected an object")),
    BadFile(
        "missing-key.jsonl",
        _jsonl('{"text": "fine"}'),
        ("line 4", "'label'", "text,label"),
        {"label": "label"},
    ),
    BadFile("nan.jsonl", _jsonl('{"text": "fine", "label": NaN}'), ("line 4", "NaN is not a JSON number")),
    BadFile(
        "half-a-pair.jsonl",
        _jsonl('{"text": "\\ud83d fine", "label": "pos"}'),
        ("line 4", "surrogate", "ud83d"),
    ),
    BadFile("deep.jsonl", _jsonl("[" * 100_000), ("line 4", "nested too deeply")),
    BadFile("long-line.jsonl", lambda: b'{"text": "' + b"a" * 51_000_000, ("line 1", "longer than 50.0 MB")),
    # archives
    BadFile(
        "truncated.csv.gz",
        lambda: _half(gzip.compress(_noise(9000))),
        ("truncated or corrupted", "gzip -t"),
    ),
    BadFile(
        "truncated.csv.bz2",
        lambda: _half(bz2.compress(_noise(9000))),
        ("truncated or corrupted", "Download"),
    ),
    BadFile(
        "truncated.csv.xz",
        lambda: _half(lzma.compress(_noise(9000))),
        ("truncated or corrupted", "Download"),
    ),
    BadFile(
        "flipped.csv.xz",
        lambda: _flipped(lzma.compress(_noise(9000))),
        ("truncated or corrupted", "Download"),
    ),
    BadFile(
        "flipped.csv.gz",
        lambda: _flipped(gzip.compress(_noise(9000))),
        ("truncated or corrupted", "Download"),
    ),
    BadFile(
        "flipped.csv.bz2",
        lambda: _flipped(bz2.compress(_noise(9000))),
        ("truncated or corrupted", "Download"),
    ),
    BadFile(
        "flipped.zip",
        lambda: _flipped(_zip(train__dot__csv=_noise(9000))()),
        ("truncated or corrupted", "Download"),
    ),
    BadFile("not-gzip.csv.gz", lambda: GOOD, ("is not a .gz file", "b'text'")),
    BadFile(
        "truncated.zip",
        lambda: _half(_zip(train__dot__csv=GOOD)()),
        ("truncated or corrupted", "unzip -t"),
    ),
    BadFile("two-files.zip", _zip(a__dot__csv=GOOD, b__dot__csv=GOOD), ("2 files (a.csv, b.csv)", "Unpack")),
    BadFile("no-files.zip", _zip(), ("no files", "Unpack")),
    BadFile(
        "bomb.zip",
        _zip(train__dot__csv=b"text,label\n" + b"a,b\n" * 5_000_000),
        ("train.csv", "20.0 MB"),
    ),
    BadFile("slip.zip", _zip(__up__train__dot__csv=GOOD), ("points outside the archive",)),
    BadFile("link.zip", _linked_zip, ("train.csv", "is a link")),
    BadFile("packed.csv.zst", lambda: b"\x28\xb5\x2f\xfd" + bytes(40), ("zstd", "unzstd")),
    # not data at all
    BadFile(
        "sheet.xlsx",
        _zip(**{"[Content_Types]__dot__xml": b"<Types/>", "xl/workbook__dot__xml": b"<workbook/>"}),
        ("office document", "CSV"),
    ),
    BadFile("photo.png", lambda: b"\x89PNG\r\n\x1a\n" + bytes(50), ("an image", ".csv", "data.format")),
    BadFile("paper.pdf", lambda: b"%PDF-1.7\n\xe2\xe3", ("a PDF", ".csv", "data.format")),
    BadFile("weights.bin", lambda: bytes(range(256)) * 20, ("not text", "'.bin'", "data.format")),
    BadFile("truncated.parquet", lambda: b"PAR1" + bytes(100), ("not a valid Parquet file", "again")),
    # series with one row per step
    BadFile(
        "gap.csv", _lines(*STEPS, "b,1,,down"), ("line 4, column 'y'", "the cell is empty", "Fill"), SERIES
    ),
    BadFile(
        "na.csv",
        _lines(*STEPS, "b,1,NA,down"),
        ("line 4, column 'y'", "'NA' is a missing value", "Fill"),
        SERIES,
    ),
    BadFile(
        "not-finite.csv",
        _lines(*STEPS, "b,inf,2,down"),
        ("line 4, column 'x'", "'inf' is not a finite number"),
        SERIES,
    ),
    BadFile(
        "nan.csv",
        _lines(*STEPS, "b,1,nan,down"),
        ("line 4, column 'y'", "'nan' is not a finite number"),
        SERIES,
    ),
    BadFile(
        "words.csv",
        _lines(*STEPS, "b,1,much,down"),
        ("line 4, column 'y'", "'much' is not a finite number", "data.features"),
        SERIES,
    ),
    BadFile(
        "thousands.csv",
        _lines(*STEPS, "b,1,1_000,down"),
        ("line 4, column 'y'", "'1_000' is not a finite number"),
        SERIES,
    ),
    BadFile(
        "scattered.csv",
        _lines(*STEPS, "b,1,2,down", "a,3,4,up"),
        ("line 5", "sequence 'a'", "line 3", "Sort the file by 'id'"),
        SERIES,
    ),
    BadFile(
        "label-changes.csv",
        _lines(*STEPS, "a,3,4,down"),
        ("line 4", "'label' changes from 'up' to 'down'", "data.sequence"),
        SERIES,
    ),
    BadFile(
        "no-features.csv",
        _lines("id,label", "a,up", "b,down"),
        ("no column is left", "data.features"),
        SERIES,
    ),
    # readable, but nothing can be learned from it
    BadFile(
        "one-class.csv", _lines("text,label", *(f"film {i},pos" for i in range(60))), ("pos",), layer="task"
    ),
    BadFile("one-row.csv", _lines("text,label", "fine,pos"), ("too few",), layer="task"),
    BadFile(
        "few-rows.csv", _lines("text,label", "fine,pos", "bad,neg", "good,pos"), ("too few",), layer="task"
    ),
    BadFile("missing-label.csv", lambda: GOOD + b"no label here,\n" * 70, ("line 62", "label"), layer="task"),
    BadFile(
        "null-label.jsonl",
        _jsonl(*['{"text": "fine", "label": null}'] * 4),
        ("line 4", "label"),
        layer="task",
    ),
    BadFile("number-as-text.jsonl", _jsonl('{"text": 3, "label": "pos"}'), ("line 4", "text"), layer="task"),
    BadFile("no-text.csv", lambda: GOOD + b",pos\n" * 70, ("line 62", "text"), layer="task"),
    BadFile("blank-text.csv", lambda: GOOD + b"   ,pos\n" * 70, ("line 62", "text"), layer="task"),
    BadFile(
        "constant.csv",
        _lines(STEPS[0], *(f"{i},1,1,{'up' if i % 2 else 'down'}" for i in range(60))),
        ("same",),
        SERIES,
        layer="task",
    ),
    BadFile(
        "unseen-label.csv",
        lambda: GOOD,
        ("test.csv", "line 3", "odd"),
        {"test": "test.csv"},
        layer="task",
        beside={"test.csv": _lines("text,label", "fine,pos", "strange,odd")},
    ),
]
