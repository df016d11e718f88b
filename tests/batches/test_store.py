"""Sequences on disk come back as they were, and reading them does not fill the memory."""

from __future__ import annotations

import gc
import resource
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from seqlab.batches.store import Store, StoreWriter, smallest_dtype
from seqlab.core.errors import EnvironmentProblem

SEQUENCES = st.lists(st.lists(st.integers(0, 65_535), max_size=9), max_size=9)


@settings(max_examples=30)  # each is written through to the disk
@given(SEQUENCES)
def test_sequences_targets_lines_and_facts_come_back(
    tmp_path_factory: pytest.TempPathFactory, sequences: list[list[int]]
) -> None:
    folder = tmp_path_factory.mktemp("store")
    writer = StoreWriter(folder, dtype=np.dtype(np.uint16))
    for number, sequence in enumerate(sequences):
        writer.append(np.array(sequence, np.int64), target=number % 3 - 1, line=2**40 + number)
    writer.finish(characters=12, kind="ä")
    assert Store.is_whole(folder)
    store = Store(folder)
    assert len(store) == len(sequences)
    assert [store[number].tolist() for number in range(len(store))] == sequences
    assert [row.tolist() for row in store] == sequences
    assert store.lengths.tolist() == [len(sequence) for sequence in sequences]
    assert store.targets.tolist() == [number % 3 - 1 for number in range(len(sequences))]
    assert store.lines.tolist() == [2**40 + number for number in range(len(sequences))]
    assert store.facts == {"characters": 12, "kind": "ä"}
    assert store.values.dtype == np.uint16


@pytest.mark.parametrize("width", [1, 3])
def test_steps_of_several_numbers_come_back(tmp_path: Path, width: int) -> None:
    parts = [np.arange(length * width, dtype=np.float32).reshape(length, width) / 7 for length in (4, 0, 1)]
    writer = StoreWriter(tmp_path, dtype=np.dtype(np.float32), width=width)
    for part in parts:
        writer.append(part)
    writer.finish()
    store = Store(tmp_path)
    assert store.width == width
    assert store.num_steps == 5
    for number, part in enumerate(parts):
        assert np.array_equal(store[number], part)
        assert store[number].shape == part.shape
    assert np.array_equal(store.window(3, 5), np.concatenate(parts)[3:5])


def test_a_store_without_sequences_is_empty(tmp_path: Path) -> None:
    for width in (0, 2):
        StoreWriter(tmp_path / str(width), dtype=np.dtype(np.float32), width=width).finish()
        store = Store(tmp_path / str(width))
        assert (len(store), store.num_steps, store.lengths.tolist(), list(store)) == (0, 0, [], [])
        assert store.window(0, 0).shape == ((0, 2) if width else (0,))


def test_a_long_stream_may_come_in_pieces(tmp_path: Path) -> None:
    stream = np.random.default_rng(1).integers(0, 200, 3_000_000)
    writer = StoreWriter(tmp_path, dtype=np.dtype(np.uint8))
    for piece in np.array_split(stream, 7):
        writer.extend(piece)
    writer.end_sequence()
    writer.append(np.array([1, 2]))
    writer.finish()
    store = Store(tmp_path)
    assert store.lengths.tolist() == [3_000_000, 2]
    assert np.array_equal(store[0], stream)
    assert store.window(2_999_999, 3_000_002).tolist() == [stream[-1], 1, 2]


@pytest.mark.parametrize(
    ("num_ids", "expected"),
    [
        (1, np.uint8),
        (256, np.uint8),
        (257, np.uint16),
        (65_536, np.uint16),
        (65_537, np.int32),
        (5_000_000, np.int32),
    ],
)
def test_ids_take_the_smallest_type_that_holds_the_largest(
    tmp_path: Path, num_ids: int, expected: type
) -> None:
    assert smallest_dtype(num_ids) == np.dtype(expected)
    writer = StoreWriter(tmp_path, dtype=smallest_dtype(num_ids))
    writer.append(np.array([0, num_ids - 1]))
    writer.finish()
    assert Store(tmp_path)[0].tolist() == [0, num_ids - 1]


def test_what_is_handed_out_is_a_copy(tmp_path: Path) -> None:
    writer = StoreWriter(tmp_path, dtype=np.dtype(np.uint8))
    writer.append(np.array([1, 2, 3]))
    writer.finish()
    store = Store(tmp_path)
    taken: NDArray[np.uint8] = store[0]
    taken[:] = 9
    assert store[0].tolist() == [1, 2, 3]


def test_a_writer_that_is_given_up_leaves_no_whole_store_and_no_open_file(tmp_path: Path) -> None:
    writer = StoreWriter(tmp_path, dtype=np.dtype(np.uint8))
    writer.append(np.zeros(3_000_000, np.uint8))
    del writer
    gc.collect()  # a file left open would warn here, and warnings are errors
    assert not Store.is_whole(tmp_path)


def test_writing_again_into_a_folder_replaces_what_was_there(tmp_path: Path) -> None:
    for ids in ([1, 2, 3], [4]):
        writer = StoreWriter(tmp_path, dtype=np.dtype(np.uint8))
        writer.append(np.array(ids))
        writer.finish()
    assert [row.tolist() for row in Store(tmp_path)] == [[4]]


def write_all(writer: StoreWriter, steps: NDArray[np.uint8]) -> None:
    writer.append(steps)
    writer.finish()


@pytest.mark.parametrize("size", [1000, 3_000_000])  # found full at the end, and on the way
def test_a_full_disk_is_said_in_words(tmp_path: Path, size: int) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    writer = StoreWriter(tmp_path, dtype=np.dtype(np.uint8))
    resource.setrlimit(resource.RLIMIT_FSIZE, (500, hard))
    try:
        with pytest.raises(EnvironmentProblem, match="no space left: needs"):
            write_all(writer, np.zeros(size, np.uint8))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert not Store.is_whole(tmp_path)


READ_THROUGH = """
import sys
from pathlib import Path
import numpy as np
from seqlab.batches.store import Store

def resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096

store = Store(Path(sys.argv[1]))
size = 1_000_000 if sys.argv[2] == "in order" else 100
last = store.num_steps - size
starts = range(0, last, size) if sys.argv[2] == "in order" else np.random.default_rng(1).integers(0, last, 30_000).tolist()
before, most = resident(), 0
for start in starts:
    store.window(start, start + size)
    most = max(most, resident())
print(most - before)
"""


@pytest.mark.slow
@pytest.mark.parametrize("order", ["in order", "at random"])
def test_memory_does_not_grow_while_a_large_store_is_read_through(tmp_path: Path, order: str) -> None:
    writer = StoreWriter(tmp_path, dtype=np.dtype(np.uint8))
    for _ in range(30):
        writer.extend(np.random.default_rng(2).integers(0, 255, 10_000_000, np.uint8))
    writer.end_sequence()
    writer.finish()
    found = subprocess.run(
        [sys.executable, "-c", READ_THROUGH, str(tmp_path), order], capture_output=True, check=True, text=True
    )
    assert int(found.stdout) < 100_000_000
