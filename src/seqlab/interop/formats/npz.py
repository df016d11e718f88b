"""Read published arrays from an .npz file without executing code.

An .npz is a zip of .npy files: a short header with type and shape, then the numbers. A header can also
request pickled objects, which can execute code, so only plain numbers are accepted. A zip can expand to far
more than its size, so all sizes are checked before anything is read.
"""

from __future__ import annotations

import math
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any, TypeVar

import numpy as np
import torch
from numpy.lib import format as npy
from torch import Tensor

from seqlab.core.errors import DataError
from seqlab.interop.formats.tensor_files import PublishedTensors
from seqlab.interop.tensor_map import Shape

Result = TypeVar("Result")
SUFFIX = ".npy"
MAX_ARRAYS = 10_000
MAX_EXPANSION = 20
"""Maximum expansion of a file when unpacked; weights hardly compress."""
HEADERS: dict[tuple[int, int], Callable[..., tuple[Shape, bool, np.dtype[Any]]]] = {
    (1, 0): npy.read_array_header_1_0,
    (2, 0): npy.read_array_header_2_0,
}
REDOWNLOAD_HINT = "Is the file complete? Download it again."


class NpzTensors(PublishedTensors):
    """Names and shapes from the headers; the numbers one array at a time."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.where = str(path)
        self.shapes = self._with_archive(self._headers)

    def read(self, name: str) -> Tensor:
        return torch.from_numpy(
            np.ascontiguousarray(self._with_archive(lambda archive: self._array(archive, name)))
        )

    def _with_archive(self, read: Callable[[zipfile.ZipFile], Result]) -> Result:
        try:
            with zipfile.ZipFile(self._path) as archive:
                return read(archive)
        except (
            zipfile.BadZipFile,
            zlib.error,
            ValueError,
            OSError,
            EOFError,
            RuntimeError,
        ) as error:  # numpy, zip and zlib each have their own
            raise DataError(
                f"the file cannot be read as .npz ({str(error)[:120]}).",
                where=str(self._path),
                cure=REDOWNLOAD_HINT,
            ) from error

    def _headers(self, archive: zipfile.ZipFile) -> dict[str, Shape]:
        members = archive.infolist()
        unpacked = sum(member.file_size for member in members)
        if len(members) > MAX_ARRAYS or unpacked > MAX_EXPANSION * self._path.stat().st_size:
            raise ValueError(
                f"{len(members):,} arrays of {unpacked:,} bytes in total are more than a file of this size"
                " can contain"
            )
        names = [member.filename for member in members]
        if len(set(names)) < len(names) or not all(name.endswith(SUFFIX) for name in names):
            raise ValueError("it contains something other than arrays with unique names")
        shapes = {}
        for member in members:
            with archive.open(member) as file:
                shapes[member.filename.removesuffix(SUFFIX)] = _shape(file, member)
        return shapes

    def _array(self, archive: zipfile.ZipFile, name: str) -> np.ndarray[Any, np.dtype[np.float32]]:
        with archive.open(name + SUFFIX) as file:
            numbers = npy.read_array(file, allow_pickle=False)
        array: np.ndarray[Any, np.dtype[np.float32]] = numbers.astype(np.float32)
        return array


def _shape(file: IO[bytes], member: zipfile.ZipInfo) -> Shape:
    """The header of an array, after checking that its numbers are plain and fill exactly the rest of the
    file.
    """
    version = npy.read_magic(file)
    if version not in HEADERS:
        raise ValueError(f"{member.filename[:60]} has version {version[0]}.{version[1]} of the format")
    shape, _, dtype = HEADERS[version](file)
    if dtype.kind != "f":
        raise ValueError(f"{member.filename[:60]} contains {str(dtype)[:40]}, not floating-point numbers")
    if file.tell() + math.prod(shape) * dtype.itemsize != member.file_size:
        raise ValueError(
            f"{member.filename[:60]} does not contain as many numbers as its shape {list(shape)} implies"
        )
    return tuple(shape)
