"""The header of an untrusted safetensors file, checked in full before any tensor is read."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from seqlab.core.errors import RunError

LARGEST_HEADER = 8 << 20
MOST_TENSORS = 100_000
MOST_AXES = 32
LONGEST_AXIS = 1 << 48
BYTES = {
    "F64": 8,
    "F32": 4,
    "F16": 2,
    "BF16": 2,
    "I64": 8,
    "I32": 4,
    "I16": 2,
    "I8": 1,
    "U64": 8,
    "U32": 4,
    "U16": 2,
    "U8": 1,
    "BOOL": 1,
    "C64": 8,
    "F8_E4M3": 1,
    "F8_E4M3FNUZ": 1,
    "F8_E5M2": 1,
    "F8_E5M2FNUZ": 1,
}

Shape = tuple[int, ...]


@dataclass(frozen=True)
class Header:
    """The raw bytes of a header, and the shape of each tensor."""

    raw: bytes
    shapes: dict[str, Shape]


def read_weights_header(path: Path) -> Header:
    """Read the header and check that it is small and describes exactly this file."""
    if not path.is_file():
        raise RunError("the weights are missing.", where=str(path), cure="Restore the file or train again.")
    size = path.stat().st_size
    with path.open("rb") as file:
        length = int.from_bytes(file.read(8), "little")
        if size < 8 or length > min(LARGEST_HEADER, size - 8):
            raise damaged_weights(path, f"its header claims {length} bytes")
        raw = file.read(length)
    try:
        entries = _entries(json.loads(raw))
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise damaged_weights(path, "its header cannot be read") from error
    ranges = sorted((start, end) for _, start, end in entries.values())
    edges = [(0, 0), *ranges, (size - 8 - length, size - 8 - length)]
    if any(end != start for (_, end), (start, _) in pairwise(edges)):
        raise damaged_weights(path, "its header does not describe the file")
    return Header(raw, {name: shape for name, (shape, _, _) in entries.items()})


def damaged_weights(path: Path, what: str) -> RunError:
    return RunError(
        f"the file is damaged: {what}.",
        where=str(path),
        cure="Restore it from a copy, resume from a checkpoint, or train again.",
    )


def _entries(header: Any) -> dict[str, tuple[Shape, int, int]]:
    """Return the shape and position of each tensor. Raises ValueError, KeyError or TypeError for a
    malformed header.
    """
    if not isinstance(header, dict) or len(header) > MOST_TENSORS:
        raise ValueError("not a table of tensors")
    return {name: _entry(entry) for name, entry in header.items() if name != "__metadata__"}


def _entry(entry: Any) -> tuple[Shape, int, int]:
    shape, (start, end) = entry["shape"], entry["data_offsets"]
    numbers = [*shape, start, end]
    if len(numbers) > MOST_AXES or not all(
        type(number) is int and 0 <= number < LONGEST_AXIS for number in numbers
    ):
        raise ValueError("not the shape of a tensor")  # also keeps the product below small
    if end - start != math.prod(shape) * BYTES[entry["dtype"]]:
        raise ValueError("shape and size do not agree")
    return tuple(shape), start, end
