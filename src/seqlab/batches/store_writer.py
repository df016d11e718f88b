"""Sequences -> a store on disk, streamed: the data may be larger than memory."""

from __future__ import annotations

import json
import os
import struct
from collections.abc import Callable, Collection, Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from seqlab.batches.columns import STRUCT_CODES, Column, SequenceColumn, StepColumn, by_name
from seqlab.core.digests import FileRecord, RunningDigest, with_digest
from seqlab.core.files import explain_full_disk, write_whole

FORMAT = 3
"""Format 1 had no digests, format 2 no named columns."""
INDEX = "store.json"
WRITE_AT_ONCE = 1 << 21
"""Buffer size of a file in bytes."""

Data = bytes | bytearray | memoryview


class StoreWriter:
    """Appends sequences to a folder in constant memory. The index is written last.

    A whole sequence:

        writer.append(tokens=ids, label=3)

    A long sequence in pieces:

        writer.extend(tokens=first_ids)
        writer.extend(tokens=more_ids)
        writer.end_sequence(label=3)

    Values that do not fit their column (wrong shape, floats for integers, overflow) raise ValueError.
    Overflow in step columns is detected when the buffer is written. After any error the store cannot be
    finished.
    """

    def __init__(self, folder: Path, columns: Iterable[Column]) -> None:
        self._columns = by_name(columns)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / INDEX).unlink(missing_ok=True)
        self._folder = folder
        self._steps: dict[str, _StepWriter] = {}
        self._values: dict[str, _ValueWriter] = {}
        for name, column in self._columns.items():
            if isinstance(column, StepColumn):
                self._steps[name] = _StepWriter(folder, column)
            elif isinstance(column, SequenceColumn):
                self._values[name] = _ValueWriter(folder, column)
        self._writers: dict[str, _StepWriter | _ValueWriter] = {**self._steps, **self._values}
        self._count = 0
        self._has_pieces = self._has_failed = False

    def append(self, /, **values: Any) -> None:
        """Write a whole sequence: the steps, (time,) or (time, width), and the values of all columns."""
        self._end_with(values, self._writers)

    def extend(self, /, **steps: Any) -> None:
        """Write more steps of the current sequence, in one or more columns."""
        self._has_pieces = True
        writers = self._steps
        try:
            for name, piece in steps.items():
                if name not in writers:
                    raise _wrong_names(steps, writers)
                writers[name].add(piece)
        except BaseException:
            self._has_failed = True
            raise

    def end_sequence(self, /, **values: Any) -> None:
        """End the current sequence, whose steps came in pieces, with its values in the sequence columns."""
        self._end_with(values, self._values)

    def _end_with(self, values: Mapping[str, Any], writers: Mapping[str, _StepWriter | _ValueWriter]) -> None:
        try:
            if values.keys() != writers.keys():
                raise _wrong_names(values, writers)
            for name, writer in writers.items():
                writer.add(values[name])
            for step_writer in self._steps.values():
                step_writer.end_sequence()
        except BaseException:
            self._has_failed = True
            raise
        self._count += 1
        self._has_pieces = False

    def finish(self, **facts: Any) -> None:
        """Flush all buffers, then write the index: columns, digests of all files, and further facts."""
        if self._has_failed:
            raise ValueError("the store cannot be finished: an earlier call failed.")
        if self._has_pieces:
            raise ValueError("the store cannot be finished: call end_sequence after the last steps.")
        files = [file for writer in self._writers.values() for file in writer.finish()]
        index = {
            "format": FORMAT,
            "sequences": self._count,
            "columns": [column.as_json() for column in self._columns.values()],
            "files": {file.path.name: file.record() for file in files},
            "facts": facts,
        }
        write_whole(self._folder / INDEX, json.dumps(with_digest(index)))


_pack_offset = struct.Struct("=q").pack


class _StepWriter:
    """A step column: the concatenated steps of all sequences, and their offsets.

    Steps are buffered in the type in which they arrive and converted together: converting each short sequence
    by itself would take longer than everything else.
    """

    def __init__(self, folder: Path, column: StepColumn) -> None:
        self._column, self._as_array = column, column.as_array
        self._steps, self._offsets = (_File(folder / name) for name in column.files)
        self._buffer, self._dtype = bytearray(), column.dtype
        self._num_steps = 0
        self.end_sequence()

    def add(self, values: Any) -> None:
        steps = self._as_array(values)
        if steps.dtype != self._dtype:
            steps = self._with_same_dtype(steps)
        self._buffer += steps.data
        self._num_steps += len(steps)
        if len(self._buffer) >= WRITE_AT_ONCE:
            self._flush()

    def _with_same_dtype(self, steps: NDArray[Any]) -> NDArray[Any]:
        """Steps of another type than the buffered ones: both are converted."""
        if not self._buffer and len(steps):
            self._column.check_kind(steps)
            self._dtype = steps.dtype
            return steps
        self._buffer, self._dtype = bytearray(self._converted().data), self._column.dtype
        return self._column.convert(steps)

    def _converted(self) -> NDArray[Any]:
        return self._column.convert(np.frombuffer(self._buffer, self._dtype))

    def _flush(self, *, durable: bool = False) -> None:
        self._steps.append(self._converted().view(np.uint8).data, durable=durable)
        self._buffer = bytearray()

    def end_sequence(self) -> None:
        self._offsets.write(_pack_offset(self._num_steps))

    def finish(self) -> list[_File]:
        self._flush(durable=True)
        self._offsets.flush(durable=True)
        return [self._steps, self._offsets]


class _ValueWriter:
    """A sequence column."""

    def __init__(self, folder: Path, column: SequenceColumn) -> None:
        self._file = _File(folder / column.files[0])
        self._pack: Callable[[Any], Data] = _vector_packer(column) if column.width else _number_packer(column)

    def add(self, value: Any) -> None:
        self._file.write(self._pack(value))

    def finish(self) -> list[_File]:
        self._file.flush(durable=True)
        return [self._file]


def _vector_packer(column: SequenceColumn) -> Callable[[Any], Data]:
    return lambda values: column.convert(column.as_array(values)).data


def _number_packer(column: SequenceColumn) -> Callable[[Any], Data]:
    """Packs single numbers with `struct`, which is many times faster than through an array."""
    pack = struct.Struct("=" + STRUCT_CODES[column.dtype.name]).pack

    def packed(value: Any) -> Data:
        try:
            return pack(value)
        except (struct.error, OverflowError, TypeError, ValueError) as error:
            raise ValueError(
                f"column '{column.name}': {value!r:.200} cannot be stored as one {column.dtype}."
            ) from error

    return packed


class _File:
    """An append-only file with a buffer. It is closed between writes: a writer can be abandoned any time."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._buffer = bytearray()
        self._digest = RunningDigest()
        path.write_bytes(b"")

    def write(self, data: Data) -> None:
        """Buffer a few bytes."""
        self._buffer += data
        if len(self._buffer) >= WRITE_AT_ONCE:
            self.flush()

    def flush(self, *, durable: bool = False) -> None:
        self.append(self._buffer, durable=durable)
        self._buffer.clear()

    def append(self, data: Data, *, durable: bool) -> None:
        """Write bytes without buffering them."""
        with explain_full_disk(self.path.parent, needed=len(data)), self.path.open("ab") as file:
            file.write(data)
            file.flush()
            if durable:
                os.fsync(file.fileno())
        self._digest.update(data)  # type: ignore[arg-type]  # any buffer of bytes works

    def record(self) -> FileRecord:
        return self._digest.record()


def _wrong_names(found_names: Collection[str], expected: Collection[str]) -> ValueError:
    missing = [name for name in expected if name not in found_names]
    unknown = [name for name in found_names if name not in expected]
    parts = [
        f"{what}: {', '.join(names)}" for what, names in (("missing", missing), ("unknown", unknown)) if names
    ]
    return ValueError(
        f"expected values for the columns {', '.join(expected) or '(none)'}; {'; '.join(parts)}."
    )
