"""The header of a GGUF file: settings by name, and the location of each tensor.

    "GGUF"  version  number of tensors  number of settings
    settings   name, kind, value              strings and lists start with their length
    tensors    name, sizes, kind, place       innermost size first; offsets are relative to the data
    data       at the next multiple of the alignment

The package `gguf` is not used, because it trusts every length in a file and takes four seconds for a
vocabulary.
"""

from __future__ import annotations

import mmap
import struct
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from seqlab.core.errors import DataError
from seqlab.interop.tensor_map import Shape

MAGIC, VERSIONS = b"GGUF", (2, 3)
MAX_ENTRIES, MAX_AXES, MAX_NAME_BYTES = 100_000, 4, 65_535
SCALARS = {
    0: "<B",
    1: "<b",
    2: "<H",
    3: "<h",
    4: "<I",
    5: "<i",
    6: "<f",
    7: "<?",
    10: "<Q",
    11: "<q",
    12: "<d",
}
TEXT, LIST = 8, 9


@dataclass(frozen=True)
class GgufTensor:
    """The location of a tensor in the file, and its encoding."""

    shape: Shape
    ggml_type: int
    offset: int


@dataclass(frozen=True)
class GgufHeader:
    settings: dict[str, Any]
    tensors: dict[str, GgufTensor]


def read_gguf_header(path: Path) -> GgufHeader:
    """The header; every length in it must fit into the file."""
    try:
        with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            return _Reader(data).header()
    except (struct.error, UnicodeDecodeError, ValueError, OSError) as error:
        why = (
            str(error)
            if type(error) is ValueError
            else "it is truncated, or contains something other than a string where one is expected"
        )
        raise DataError(
            f"this is not a valid GGUF file: {why}.", where=str(path), cure="Download the file again."
        ) from error


class _Reader:
    """Reads the bytes sequentially; reading past the end is a ValueError."""

    def __init__(self, data: mmap.mmap) -> None:
        self._data = data
        self._position = 4

    def header(self) -> GgufHeader:
        if self._data[:4] != MAGIC:
            raise ValueError("it does not start with the letters GGUF")
        version = self._number("<I")
        if version not in VERSIONS:
            raise ValueError(
                f"its version is {version}; supported versions: {' and '.join(map(str, VERSIONS))}"
            )
        num_tensors, num_settings = self._number("<Q"), self._number("<Q")
        if max(num_tensors, num_settings) > MAX_ENTRIES:
            raise ValueError(f"it declares {num_tensors:,} tensors and {num_settings:,} settings")
        settings = {self._text(MAX_NAME_BYTES): self._value(self._number("<I")) for _ in range(num_settings)}
        entries = [
            (self._text(MAX_NAME_BYTES), self._sizes(), self._number("<I"), self._number("<Q"))
            for _ in range(num_tensors)
        ]
        for name, count in Counter(name for name, *_ in entries).most_common(1):
            if count > 1:
                raise ValueError(f"it contains {count} tensors named {name[:80]}")
        alignment = settings.get("general.alignment", 32)
        if not isinstance(alignment, int) or not 0 < alignment <= 1 << 20:
            raise ValueError("its alignment is not a small number")
        start = -(-self._position // alignment) * alignment
        return GgufHeader(
            settings,
            {name: GgufTensor(sizes[::-1], kind, start + offset) for name, sizes, kind, offset in entries},
        )

    def _number(self, format_code: str) -> Any:
        (value,) = struct.unpack_from(format_code, self._data, self._position)
        self._position += struct.calcsize(format_code)
        return value

    def _text(self, max_length: int | None = None) -> str:
        length = self._number("<Q")
        if length > len(self._data) - self._position or (max_length is not None and length > max_length):
            raise ValueError("a string in it is longer than the file")
        self._position += length
        return self._data[self._position - length : self._position].decode("utf-8")

    def _value(self, kind: int) -> Any:
        if kind == TEXT:
            return self._text()
        if kind == LIST:
            return self._list()
        if kind not in SCALARS:
            raise ValueError(f"a setting in it has the unknown type {kind}")
        return self._number(SCALARS[kind])

    def _list(self) -> list[Any]:
        kind, length = self._number("<I"), self._number("<Q")
        if length > len(self._data) - self._position:  # every entry takes at least one byte
            raise ValueError("a list in it is longer than the file")
        if kind in SCALARS:
            format_code = f"<{length}{SCALARS[kind][1]}"
            values = list(struct.unpack_from(format_code, self._data, self._position))
            self._position += struct.calcsize(format_code)
            return values
        if kind != TEXT:
            raise ValueError("a list in it contains neither numbers nor strings")
        return [self._text() for _ in range(length)]

    def _sizes(self) -> Shape:
        num_axes = self._number("<I")
        if num_axes > MAX_AXES:
            raise ValueError(f"a tensor in it declares {num_axes} axes")
        return tuple(self._number("<Q") for _ in range(num_axes))
