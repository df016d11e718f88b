"""A file is read once for its hash in a process, and again after every change."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from seqlab.core.errors import DataError
from seqlab.sources.files.compression import content_hash
from seqlab.sources.files.once_per_file import once_per_file


def age(path: Path, seconds: float) -> None:
    then = time.time() - seconds
    os.utime(path, (then, then))


def test_a_file_that_rests_is_read_once_and_again_after_a_change(tmp_path: Path) -> None:
    calls: list[Path] = []

    def read_content(path: Path) -> bytes:
        calls.append(path)
        return path.read_bytes()

    read = once_per_file(read_content)
    path = tmp_path / "a.csv"
    path.write_bytes(b"one")
    age(path, 100)
    assert [read(path), read(path)] == [b"one"] * 2
    assert len(calls) == 1
    path.write_bytes(b"two")  # as long as before
    age(path, 50)
    assert [read(path), read(path)] == [b"two"] * 2
    assert len(calls) == 2
    replaced = tmp_path / "b.csv"
    replaced.write_bytes(b"new")
    os.utime(replaced, ns=(path.stat().st_mtime_ns,) * 2)
    replaced.replace(path)  # same size and time, another file
    assert read(path) == b"new"


def test_a_file_that_was_just_changed_is_always_read(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    for number in range(20):  # several changes within one tick of the file system's clock
        path.write_bytes(b"%02d" % number)
        first = content_hash(path)
        path.write_bytes(b"%02d" % (number + 50))
        assert content_hash(path) != first


def test_a_missing_file_is_an_error_each_time(tmp_path: Path) -> None:
    for _ in range(2):
        with pytest.raises(DataError, match=r"gone\.csv"):
            content_hash(tmp_path / "gone.csv")
