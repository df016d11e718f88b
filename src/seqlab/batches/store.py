"""Encoded sequences on disk, read piece by piece: a corpus may be larger than memory."""

from __future__ import annotations

import json
import mmap
import os
import weakref
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from seqlab.core.digests import RunningDigest, is_intact, with_digest, without_digest
from seqlab.core.files import explain_full_disk, write_whole

FORMAT = 2
FILES = ("values", "offsets", "targets", "lines")
INDEX = "store.json"
WRITE_AT_ONCE = 1 << 20


def smallest_dtype(num_ids: int) -> np.dtype[Any]:
    """The smallest type that holds ids below `num_ids`."""
    return np.dtype(np.uint8 if num_ids <= 1 << 8 else np.uint16 if num_ids <= 1 << 16 else np.int32)


class StoreWriter:
    """Appends sequences to a folder; memory does not grow with what is written. The index is written last."""

    def __init__(self, folder: Path, *, dtype: np.dtype[Any], width: int = 0) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / INDEX).unlink(missing_ok=True)
        self._folder = folder
        self._dtype = dtype
        self._width = width
        self._steps = 0
        self._count = 0
        self._waiting = {name: bytearray() for name in FILES}
        self._digests = {name: RunningDigest() for name in FILES}
        for name in FILES:
            self._path(name).write_bytes(b"")
        self._write("offsets", np.zeros(1, np.int64))

    def append(self, steps: NDArray[Any], *, target: int = -1, line: int = 0) -> None:
        """One sequence: ids (time,) or vectors (time, width)."""
        self.extend(steps)
        self.end_sequence(target=target, line=line)

    def extend(self, steps: NDArray[Any]) -> None:
        """More steps of the sequence that is being written: a long stream comes in pieces."""
        assert steps.shape[1:] == ((self._width,) if self._width else ()), (
            f"steps of shape {steps.shape} for a store of width {self._width}"
        )
        self._write("values", np.ascontiguousarray(steps, dtype=self._dtype))
        self._steps += len(steps)

    def end_sequence(self, *, target: int = -1, line: int = 0) -> None:
        self._write("offsets", np.array([self._steps], np.int64))
        self._write("targets", np.array([target], np.int32))
        self._write("lines", np.array([line], np.int64))
        self._count += 1

    def finish(self, **facts: Any) -> None:
        """Write what is still waiting, then the index: digests of all files, and any further facts to
        remember.
        """
        for name in FILES:
            self._flush(name, durable=True)
        files = {self._path(name).name: self._digests[name].record() for name in FILES}
        index = {
            "format": FORMAT,
            "dtype": self._dtype.name,
            "width": self._width,
            "sequences": self._count,
            "files": files,
            "facts": facts,
        }
        write_whole(self._folder / INDEX, json.dumps(with_digest(index)))

    def _path(self, name: str) -> Path:
        return self._folder / f"{name}.bin"

    def _write(self, name: str, array: NDArray[Any]) -> None:
        self._waiting[name] += array.tobytes()
        if len(self._waiting[name]) >= WRITE_AT_ONCE:
            self._flush(name)

    def _flush(self, name: str, *, durable: bool = False) -> None:
        """No file stays open in between, so a writer may be given up at any moment."""
        waiting = self._waiting[name]
        with explain_full_disk(self._folder, needed=len(waiting)), self._path(name).open("ab") as file:
            file.write(waiting)
            file.flush()
            if durable:
                os.fsync(file.fileno())
        self._digests[name].update(waiting)
        waiting.clear()


class Store:
    """The sequences that a StoreWriter wrote, by number. Stays readable when its files are removed."""

    def __init__(self, folder: Path) -> None:
        index = _read_index(folder)
        self.facts: dict[str, Any] = index["facts"]
        self.width: int = index["width"]
        self.dtype = np.dtype(index["dtype"])
        self.offsets = np.fromfile(folder / "offsets.bin", np.int64)
        self.targets = np.fromfile(folder / "targets.bin", np.int32)
        self.lines = np.fromfile(folder / "lines.bin", np.int64)
        self.num_steps = int(self.offsets[-1])
        self._step_shape = (self.width,) if self.width else ()
        self._step_bytes = self.dtype.itemsize * max(1, self.width)
        self._handle = os.open(folder / "values.bin", os.O_RDONLY)
        weakref.finalize(self, os.close, self._handle)

    @staticmethod
    def is_whole(folder: Path) -> bool:
        """Whether a folder holds a finished store of this format with every byte as it was written, which is
        read for it.
        """
        try:
            index = _read_index(folder)
            return index["format"] == FORMAT and all(
                is_intact(folder / f"{name}.bin", index["files"][f"{name}.bin"]) for name in FILES
            )
        except (OSError, ValueError, KeyError, TypeError):
            return False

    def __len__(self) -> int:
        return len(self.targets)

    @property
    def lengths(self) -> NDArray[np.int64]:
        return np.diff(self.offsets)

    def __getitem__(self, number: int) -> NDArray[Any]:
        return self.window(int(self.offsets[number]), int(self.offsets[number + 1]))

    def window(self, start: int, end: int) -> NDArray[Any]:
        """A copy of steps `start` to `end` of all sequences laid end to end.

        Read rather than looked up in a map, whose pages would count as the process's own memory.
        """
        num_bytes, place = (
            max(0, min(end, self.num_steps) - start) * self._step_bytes,
            start * self._step_bytes,
        )
        read = bytearray()
        while len(read) < num_bytes:  # one call reads at most two gigabytes
            part = os.pread(self._handle, num_bytes - len(read), place + len(read))
            assert part, "a store became shorter while it was open"
            read += part
        return np.frombuffer(read, self.dtype).reshape(-1, *self._step_shape)

    @property
    def values(self) -> NDArray[Any]:
        """The steps of all sequences laid end to end, as a map of the file."""
        if self.num_steps * self._step_bytes == 0:  # an empty file cannot be mapped
            return self.window(0, 0)
        return np.frombuffer(mmap.mmap(self._handle, 0, access=mmap.ACCESS_READ), self.dtype).reshape(
            -1, *self._step_shape
        )


def _read_index(folder: Path) -> dict[str, Any]:
    index: dict[str, Any] = without_digest(json.loads((folder / INDEX).read_text(encoding="utf-8")))
    return index
