"""Whatever the bytes, reading ends in rows or in words, never in another exception."""

from __future__ import annotations

import gzip
import io
import zipfile
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from seqlab.core.errors import DataError
from seqlab.sources.open_source import open_parts
from seqlab.sources.settings import DataSettings

PIECES = st.sampled_from(
    [
        b"text,label\n",
        b'"',
        b'""',
        b",",
        b";",
        b"\t",
        b"\n",
        b"\r",
        b"\r\n",
        b"{",
        b'{"a": 1}',
        b"[",
        b"\xff",
        b"\xc3",
        b"\0",
        b"word",
        b"1.5",
        b"split\n",
        b"train",
    ]
)
CONTENT = st.one_of(st.binary(max_size=60), st.lists(PIECES, max_size=20).map(b"".join))
NAMES = [
    "a.csv",
    "a.tsv",
    "a.jsonl",
    "a.txt",
    "a.parquet",
    "a.gz",
    "a.zip",
    "a.tar",
    "a.tar.gz",
    "a.xz",
    "a.bz2",
    "a",
]


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
@given(content=CONTENT, skip=st.booleans(), encoding=st.sampled_from(["utf-8", "utf-16", "latin-1"]))
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_bytes_are_read_or_refused(
    name: str, content: bytes, skip: bool, encoding: str, tmp_path: Path
) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with suppress(DataError):
        for source in open_parts(
            path, DataSettings(bad_rows="skip" if skip else "stop", encoding=encoding)
        ).values():
            assert all(isinstance(row.values, dict) for row in source.rows())


def packed(kind: str) -> bytes:
    content = b"text,label\n" + b"".join(b"film %d,pos\n" % (i * i) for i in range(40))
    if kind == "a.csv.gz":
        return gzip.compress(content, mtime=0)
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.csv", content)
    return buffer.getvalue()


@pytest.mark.parametrize("kind", ["a.csv.gz", "a.zip"])
@given(data=st.data())
@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_an_archive_with_a_changed_byte_is_refused_or_reads_the_same(
    kind: str, data: st.DataObject, tmp_path: Path
) -> None:
    whole = packed(kind)
    at, value = data.draw(st.integers(0, len(whole) - 1)), data.draw(st.integers(0, 255))
    path = tmp_path / kind
    path.write_bytes(whole[:at] + bytes([value]) + whole[at + 1 :])
    with suppress(DataError):
        rows = [
            tuple(row.values.values())
            for source in open_parts(path, DataSettings()).values()
            for row in source.rows()
        ]
        assert rows == [(f"film {i * i}", "pos") for i in range(40)]
