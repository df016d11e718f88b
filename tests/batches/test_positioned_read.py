"""Bytes at a position, with `preadv` and without it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from seqlab.batches.positioned_read import open_for_reading, read_into

CONTENT = bytes(range(256)) * 40


@pytest.fixture(params=["preadv", "seek"])
def handle(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    if request.param == "seek":
        monkeypatch.delattr(os, "preadv")
    path = tmp_path / "values.bin"
    path.write_bytes(CONTENT)
    opened = open_for_reading(path)
    yield opened
    os.close(opened)


def test_the_bytes_are_those_of_the_position(handle: int) -> None:
    values = np.empty((3, 5), np.int16)
    assert read_into(handle, values.data, 700) == 30
    assert values.tobytes() == CONTENT[700:730]


def test_the_end_of_the_file_gives_fewer_bytes(handle: int) -> None:
    values = np.zeros(10, np.uint8)
    assert read_into(handle, values.data, len(CONTENT) - 4) == 4
    assert values.tobytes() == CONTENT[-4:] + bytes(6)


def test_threads_do_not_move_each_others_position(handle: int) -> None:
    def read(position: int) -> bool:
        values = np.empty(64, np.uint8)
        read_into(handle, values.data, position)
        return values.tobytes() == CONTENT[position : position + 64]

    with ThreadPoolExecutor(8) as threads:
        assert all(threads.map(read, [(number * 131) % 10_000 for number in range(2_000)]))
