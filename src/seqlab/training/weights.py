"""Tensors on disk as safetensors files that check themselves.

safetensors has no checksum: a flipped byte loads. Ours carry the SHA-256 of the whole file (its own place blanked) in the
header, and everything about the header is checked before a tensor is touched.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor

from seqlab.core.errors import RunError
from seqlab.core.files import CHUNK, explain_full_disk

BLANK = "0" * 64
LARGEST_HEADER = 8 << 20
MOST_TENSORS = 100_000
BITS = {"F64": 64, "F32": 32, "F16": 16, "BF16": 16, "I64": 64, "I32": 32, "I16": 16, "I8": 8, "U8": 8, "BOOL": 8}


def write_weights(path: Path, tensors: Mapping[str, Tensor]) -> None:
    """Write tensors with their checksum and wait until they are on the disk. Not atomic: see `replace_weights`."""
    contiguous = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
    needed = sum(tensor.nbytes for tensor in contiguous.values())
    with explain_full_disk(path, needed=needed):
        try:
            save_file(contiguous, path, metadata={"sha256": BLANK})
        except SafetensorError as error:
            raise _as_system_error(error) from error
        digest, place = _digest(path)
        with path.open("r+b") as file:
            file.seek(place)
            file.write(digest.encode())
            file.flush()
            os.fsync(file.fileno())


def replace_weights(path: Path, tensors: Mapping[str, Tensor]) -> None:
    """Write tensors so that the file is the old one or the new one, never a part."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        write_weights(temporary, tensors)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def read_weights(path: Path, *, expected: Mapping[str, Tensor] | None = None) -> dict[str, Tensor]:
    """Read a file after checking header, checksum and, when given, names and shapes."""
    found = _read_header(path)
    if expected is not None:
        _compare(path, found, expected)
    digest, place = _digest(path)
    with path.open("rb") as file:
        file.seek(place)
        if file.read(len(BLANK)) != digest.encode():
            raise _damaged(path, "its content does not match its checksum")
    return load_file(path)


def _read_header(path: Path) -> dict[str, tuple[int, ...]]:
    """Names and shapes, after making sure that the header is small and describes exactly this file."""
    if not path.is_file():
        raise RunError("the weights are not there.", where=str(path), cure="Restore the file or train again.")
    size = path.stat().st_size
    with path.open("rb") as file:
        length = int.from_bytes(file.read(8), "little")
        if size < 8 or length > min(LARGEST_HEADER, size - 8):
            raise _damaged(path, f"its header claims {length} bytes")
        text = file.read(length)
    try:
        header: dict[str, Any] = json.loads(text)
        header.pop("__metadata__", None)
        shapes = {name: tuple(int(n) for n in entry["shape"]) for name, entry in header.items()}
        ends = sorted((int(entry["data_offsets"][0]), int(entry["data_offsets"][1])) for entry in header.values())
        described = sum(math.prod(shapes[name]) * BITS[entry["dtype"]] // 8 for name, entry in header.items())
    except (ValueError, KeyError, TypeError, AttributeError, IndexError, RecursionError) as error:
        raise _damaged(path, "its header cannot be read") from error
    gapless = all(end == start for (_, end), (start, _) in pairwise(ends))
    if len(shapes) > MOST_TENSORS or described != size - 8 - length or not gapless:
        raise _damaged(path, "its header does not describe the file")
    return shapes


def _compare(path: Path, found: Mapping[str, tuple[int, ...]], expected: Mapping[str, Tensor]) -> None:
    wrong = [f"{name} is missing" for name in expected if name not in found]
    wrong += [f"{name} is not part of the model" for name in found if name not in expected]
    wrong += [
        f"{name} has shape {list(shape)}, expected {list(expected[name].shape)}"
        for name, shape in found.items()
        if name in expected and shape != tuple(expected[name].shape)
    ]
    if wrong:
        more = f" and {len(wrong) - 3} more" if len(wrong) > 3 else ""
        raise RunError(
            f"the weights do not fit the recipe: {'; '.join(wrong[:3])}{more}.",
            where=str(path),
            cure="recipe.toml and model.safetensors must come from the same run.",
        )


def _digest(path: Path) -> tuple[str, int]:
    """SHA-256 of the file with the place of the checksum blanked, and that place."""
    with path.open("rb") as file:
        length = int.from_bytes(file.read(8), "little")
        header = file.read(length)
        place = header.find(b'"sha256":"') + len(b'"sha256":"')
        if place < len(b'"sha256":"') or place + len(BLANK) > len(header):
            raise _damaged(path, "it carries no checksum")
        digest = hashlib.sha256(length.to_bytes(8, "little") + header[:place] + BLANK.encode() + header[place + len(BLANK) :])
        while chunk := file.read(CHUNK):
            digest.update(chunk)
    return digest.hexdigest(), place + 8


def _damaged(path: Path, what: str) -> RunError:
    return RunError(f"the file is damaged: {what}.", where=str(path), cure="Restore it from a copy, resume from a checkpoint, or train again.")


def _as_system_error(error: SafetensorError) -> OSError:
    """safetensors hides the system's error number in its text."""
    for number in (28, 27, 122):  # no space, file too large, quota
        if f"os error {number}" in str(error):
            return OSError(number, os.strerror(number))
    return OSError(str(error))
