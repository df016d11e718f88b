"""A store is finished whole or not at all, and values that do not fit their column are refused."""

from __future__ import annotations

import gc
import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest

from seqlab.batches.columns import Column, SequenceColumn, StepColumn
from seqlab.batches.store import Store, damaged_files
from seqlab.batches.store_writer import StoreWriter
from seqlab.core.errors import DataError, EnvironmentProblem
from tests.batches.small_store import BYTE, FILES, FLOAT32, INT32, INT64, TOKENS, small_store


@pytest.mark.parametrize(
    ("column", "values", "facts"),
    [
        (StepColumn("tokens", BYTE), [0.5], ["tokens", "float64", "uint8"]),
        (StepColumn("tokens", BYTE), [[1, 2]], ["tokens", "(time)", "(1, 2)"]),
        (StepColumn("tokens", BYTE), 3, ["tokens", "(time)", "()"]),
        (StepColumn("tokens", BYTE), ["a"], ["tokens", "uint8"]),
        (StepColumn("tokens", BYTE), [True], ["tokens", "bool", "uint8"]),
        (StepColumn("tokens", BYTE), [1, 256], ["tokens", "256", "uint8"]),
        (StepColumn("tokens", BYTE), [1, -1], ["tokens", "-1", "uint8"]),
        (StepColumn("tags", np.dtype(np.int8)), [1, -129], ["tags", "-129", "int8"]),
        (StepColumn("tags", INT32), [2**31], ["tags", str(2**31), "int32"]),
        (StepColumn("tags", INT64), np.array([2**63], np.uint64), ["tags", str(2**63), "int64"]),
        (StepColumn("ids", np.dtype(np.uint64)), [-1], ["ids", "-1", "uint64"]),
        (StepColumn("ids", np.dtype(np.uint16)), np.array([-1], np.int8), ["ids", "-1", "uint16"]),
        (StepColumn("ids", np.dtype(np.uint16)), np.array([65_536], ">i4"), ["ids", "65536", "uint16"]),
        (StepColumn("features", FLOAT32, 3), [[0.5, 1.5]], ["features", "(time, 3)", "(1, 2)"]),
        (StepColumn("features", FLOAT32, 3), [0.5, 1.5, 2.5], ["features", "(time, 3)", "(3,)"]),
        (StepColumn("features", FLOAT32, 1), np.zeros((0, 2)), ["features", "(time, 1)", "(0, 2)"]),
        (StepColumn("features", FLOAT32), [1, 2], ["features", "int64", "float32"]),
        (SequenceColumn("label", INT32), 1.5, ["label", "1.5", "int32"]),
        (SequenceColumn("label", INT32), 2**31, ["label", str(2**31), "int32"]),
        (SequenceColumn("label", INT32), "seven", ["label", "seven", "int32"]),
        (SequenceColumn("label", INT32), np.array([1, 2]), ["label", "int32"]),
        (SequenceColumn("target", FLOAT32), 1e300, ["target", "1e+300", "float32"]),
        (SequenceColumn("target", FLOAT32), None, ["target", "None", "float32"]),
        (SequenceColumn("future", FLOAT32, 2), [0.5], ["future", "(2)", "(1,)"]),
        (SequenceColumn("future", FLOAT32, 2), 0.5, ["future", "(2)", "()"]),
        (SequenceColumn("future", INT32, 2), [2**40, 0], ["future", str(2**40), "int32"]),
    ],
)
def test_values_that_do_not_fit_their_column_are_refused(
    tmp_path: Path, column: Column, values: Any, facts: list[str]
) -> None:
    good = [0] if column.dtype.kind != "f" else [0.0]
    first = (
        np.array([good * max(1, column.width)]).reshape(1, *column.shape)
        if isinstance(column, StepColumn)
        else good * column.width or 0
    )
    writer = StoreWriter(tmp_path, [column])
    writer.append(**{column.name: first})
    with pytest.raises(
        ValueError, match="column"
    ) as caught:  # a number that is too large is noticed when it goes to the disk
        append_and_finish(writer, {column.name: values})
    assert all(fact in str(caught.value) for fact in facts), caught.value
    with pytest.raises(ValueError):  # noqa: PT011 - what failed once cannot be finished
        writer.finish()
    assert damaged_files(tmp_path) == ["store.json"]


def append_and_finish(writer: StoreWriter, values: dict[str, Any]) -> None:
    writer.append(**values)
    writer.finish()


def test_a_wrong_kind_is_refused_at_once_even_in_the_first_sequence(tmp_path: Path) -> None:
    writer = StoreWriter(tmp_path, [TOKENS])
    with pytest.raises(ValueError, match="float64"):
        writer.append(tokens=[0.5])


def test_a_piece_that_was_refused_in_one_column_cannot_be_forgotten(tmp_path: Path) -> None:
    """The other column has its steps already: both would no longer agree."""
    writer = StoreWriter(tmp_path, [TOKENS, StepColumn("tags", INT32)])
    with pytest.raises(ValueError, match="tags"):
        writer.extend(tokens=[1, 2], tags=[0.5, 0.5])
    writer.end_sequence()
    with pytest.raises(ValueError, match="failed"):
        writer.finish()


def test_values_for_other_columns_are_refused(tmp_path: Path) -> None:
    columns = [TOKENS, SequenceColumn("label", INT32)]
    for call, facts in (
        (lambda writer: writer.append(tokens=[1]), ["missing", "label"]),
        (lambda writer: writer.append(tokens=[1], label=1, line=3), ["unknown", "line"]),
        (lambda writer: writer.append(tokens=[1], lable=1), ["missing", "label", "unknown", "lable"]),
        (lambda writer: writer.extend(label=1), ["unknown", "label"]),
        (lambda writer: writer.end_sequence(), ["missing", "label"]),
        (lambda writer: writer.end_sequence(tokens=[1], label=1), ["unknown", "tokens"]),
    ):
        writer = StoreWriter(tmp_path, columns)
        with pytest.raises(ValueError, match="columns") as caught:
            call(writer)
        assert all(fact in str(caught.value) for fact in facts), caught.value
        with pytest.raises(ValueError, match="finished"):
            writer.finish()


@pytest.mark.parametrize(
    "bad",
    [
        {"name": "two words"},
        {"name": "../up"},
        {"name": ""},
        {"width": -1},
        {"dtype": "U3"},
        {"dtype": "bool"},
        {"dtype": ">i4"},
    ],
)
def test_columns_that_cannot_be_kept_are_refused(bad: dict[str, Any]) -> None:
    fields = {"name": "tokens", "dtype": BYTE, "width": 0, **bad}
    with pytest.raises(ValueError, match=next(iter(bad)) if "dtype" not in bad else "supported"):
        StepColumn(fields["name"], np.dtype(fields["dtype"]), fields["width"])


def test_two_columns_of_one_name_and_no_column_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="tokens"):
        StoreWriter(tmp_path, [TOKENS, SequenceColumn("tokens", INT32)])
    with pytest.raises(ValueError, match="column"):
        StoreWriter(tmp_path, [])


def test_a_sequence_without_an_end_cannot_be_finished(tmp_path: Path) -> None:
    writer = StoreWriter(tmp_path, [TOKENS])
    writer.append(tokens=[1])
    writer.extend(tokens=[2])
    with pytest.raises(ValueError, match="end_sequence"):
        writer.finish()
    writer.end_sequence()
    writer.finish()
    assert [steps.tolist() for steps in Store(tmp_path)["tokens"]] == [[1], [2]]


@pytest.mark.slow
def test_a_writer_that_is_given_up_leaves_no_whole_store_and_no_open_file(tmp_path: Path) -> None:
    writer = StoreWriter(tmp_path, [TOKENS])
    writer.append(tokens=np.zeros(3_000_000, np.uint8))
    del writer
    gc.collect()  # a file left open would warn here, and warnings are errors
    assert damaged_files(tmp_path) == ["store.json"]


def test_writing_again_into_a_folder_replaces_what_was_there(tmp_path: Path) -> None:
    small_store(tmp_path)
    writer = StoreWriter(tmp_path, [TOKENS])
    assert damaged_files(tmp_path) == ["store.json"]  # from the first moment on
    writer.append(tokens=[4])
    writer.finish()
    assert [steps.tolist() for steps in Store(tmp_path)["tokens"]] == [[4]]


def test_a_crash_at_any_moment_of_finishing_leaves_no_whole_store(tmp_path: Path) -> None:
    class Crash(BaseException): ...

    synced = os.fsync
    for calls in range(20):
        left = [calls]

        def crash_later(handle: int, left: list[int] = left) -> None:
            left[0] -= 1
            if left[0] < 0:
                raise Crash
            synced(handle)

        folder = tmp_path / str(calls)
        with patch.object(os, "fsync", crash_later):
            try:
                small_store(folder)
            except Crash:
                if not (folder / "store.json").exists():  # the last call makes the name of the index durable
                    assert damaged_files(folder) == ["store.json"]
                    continue
        break
    assert calls == len(FILES) + 1
    assert len(Store(folder)) == 3


WRITE_ON = """
import sys
from pathlib import Path
import numpy as np
from seqlab.batches.columns import SequenceColumn, StepColumn
from seqlab.batches.store_writer import StoreWriter

columns = [StepColumn("tokens", np.dtype(np.uint16)), SequenceColumn("label", np.dtype(np.int32))]
writer = StoreWriter(Path(sys.argv[1]), columns)
while True:
    writer.append(tokens=np.arange(5000), label=3)
"""


def test_a_process_killed_while_it_writes_leaves_no_whole_store(tmp_path: Path) -> None:
    small_store(tmp_path)  # which the process is to replace
    process = subprocess.Popen([sys.executable, "-c", WRITE_ON, str(tmp_path)])
    path, patience = tmp_path / "tokens.bin", time.monotonic() + 60
    while not (path.exists() and path.stat().st_size > 3_000_000) and time.monotonic() < patience:
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert path.stat().st_size > 3_000_000
    assert damaged_files(tmp_path) == ["store.json"]
    with pytest.raises(DataError, match=r"store\.json"):
        Store(tmp_path)


@pytest.mark.parametrize("size", [1000, 3_000_000])  # found full at the end, and on the way
def test_a_file_that_may_not_grow_is_said_in_words(tmp_path: Path, size: int) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    writer = StoreWriter(tmp_path, [TOKENS])
    resource.setrlimit(resource.RLIMIT_FSIZE, (500, hard))
    try:
        with pytest.raises(EnvironmentProblem, match="ulimit -f"):
            append_and_finish(writer, {"tokens": np.zeros(size, np.uint8)})
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert damaged_files(tmp_path) == ["store.json"]
