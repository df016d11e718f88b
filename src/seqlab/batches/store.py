"""Encoded sequences on disk, read through a memory map: a corpus may be larger than memory."""

from __future__ import annotations

import json
import mmap
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from seqlab.core.files import explain_full_disk, write_whole

FORMAT = 1
RELEASE_AFTER = 256 << 20
"""Bytes handed out before the map's pages are given back, so that resident memory does not grow with the corpus."""


def smallest_dtype(num_ids: int) -> np.dtype[Any]:
    """The smallest type that holds ids below `num_ids`."""
    return np.dtype(np.uint8 if num_ids <= 1 << 8 else np.uint16 if num_ids <= 1 << 16 else np.int32)


class StoreWriter:
    """Appends sequences to a folder; memory does not grow with what is written. The index is written last."""

    def __init__(self, folder: Path, *, dtype: np.dtype[Any], width: int = 0) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder
        self._dtype = dtype
        self._width = width
        self._steps = 0
        self._files: dict[str, BinaryIO] = {name: (folder / f"{name}.bin").open("wb") for name in ("values", "offsets", "targets", "lines")}
        self._count = 0
        self._write("offsets", np.zeros(1, np.int64))

    def append(self, steps: NDArray[Any], *, target: int = -1, line: int = 0) -> None:
        """One sequence: ids (time,) or vectors (time, width)."""
        self.extend(steps)
        self.end_sequence(target=target, line=line)

    def extend(self, steps: NDArray[Any]) -> None:
        """More steps of the sequence that is being written: a long stream comes in pieces."""
        assert steps.shape[1:] == ((self._width,) if self._width else ()), f"steps of shape {steps.shape} for a store of width {self._width}"
        self._write("values", np.ascontiguousarray(steps, dtype=self._dtype))
        self._steps += len(steps)

    def end_sequence(self, *, target: int = -1, line: int = 0) -> None:
        self._write("offsets", np.array([self._steps], np.int64))
        self._write("targets", np.array([target], np.int32))
        self._write("lines", np.array([line], np.int64))
        self._count += 1

    def finish(self, **facts: Any) -> None:
        """Close the files and write the index with any further facts to remember."""
        for file in self._files.values():
            file.close()
        sizes = {path.name: path.stat().st_size for path in sorted(self._folder.glob("*.bin"))}
        index = {"format": FORMAT, "dtype": self._dtype.name, "width": self._width, "sequences": self._count, "sizes": sizes, "facts": facts}
        write_whole(self._folder / "store.json", json.dumps(index))

    def _write(self, name: str, array: NDArray[Any]) -> None:
        with explain_full_disk(self._folder, needed=array.nbytes):
            self._files[name].write(array.tobytes())


class Store:
    """The sequences that a StoreWriter wrote, by number."""

    def __init__(self, folder: Path) -> None:
        index = json.loads((folder / "store.json").read_text(encoding="utf-8"))
        self.facts: dict[str, Any] = index["facts"]
        self.width: int = index["width"]
        self.offsets = np.fromfile(folder / "offsets.bin", np.int64)
        self.targets = np.fromfile(folder / "targets.bin", np.int32)
        self.lines = np.fromfile(folder / "lines.bin", np.int64)
        self.values, self._map = _map_array(folder / "values.bin", np.dtype(index["dtype"]), index["width"])
        self._handed_out = 0

    @staticmethod
    def is_whole(folder: Path) -> bool:
        """Whether a folder holds a finished store of this format with every byte in place."""
        try:
            index = json.loads((folder / "store.json").read_text(encoding="utf-8"))
            return index["format"] == FORMAT and all((folder / name).stat().st_size == size for name, size in index["sizes"].items())
        except (OSError, ValueError, KeyError):
            return False

    def __len__(self) -> int:
        return len(self.targets)

    @property
    def lengths(self) -> NDArray[np.int64]:
        return np.diff(self.offsets)

    @property
    def num_steps(self) -> int:
        return int(self.offsets[-1])

    def __getitem__(self, number: int) -> NDArray[Any]:
        return self.window(int(self.offsets[number]), int(self.offsets[number + 1]))

    def window(self, start: int, end: int) -> NDArray[Any]:
        """A copy of steps `start` to `end` of all sequences laid end to end."""
        window = self.values[start:end].copy()
        self._handed_out += window.nbytes
        if self._handed_out > RELEASE_AFTER and self._map is not None:
            self._map.madvise(mmap.MADV_DONTNEED)
            self._handed_out = 0
        return window


def _map_array(path: Path, dtype: np.dtype[Any], width: int) -> tuple[NDArray[Any], mmap.mmap | None]:
    shape = (-1, width) if width else (-1,)
    if path.stat().st_size == 0:  # an empty file cannot be mapped
        return np.empty(0, dtype).reshape(shape), None
    with path.open("rb") as file:
        mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    return np.frombuffer(mapped, dtype).reshape(shape), mapped
