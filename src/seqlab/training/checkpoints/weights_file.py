"""Tensors on disk as safetensors files with a checksum.

safetensors itself has no checksum, so a flipped byte goes unnoticed. These files carry the SHA-256 of the
whole file (with the checksum itself zeroed) in the header, along with the id of their run and, for the best
weights of a run, their step.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Mapping
from pathlib import Path

from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor

from seqlab.core.errors import RunError
from seqlab.core.files import CHUNK, explain_full_disk, sync_folder
from seqlab.training.checkpoints.weights_header import Header, Shape, damaged_weights, read_weights_header

BLANK = b"0" * 64
MARK = b'"seqlab":"sha256:'
"""The bytes before the checksum.

Checksum and run id share one entry, because safetensors writes several entries in arbitrary order.
"""


STEP = b" step:"


def write_weights(path: Path, tensors: Mapping[str, Tensor], *, run_id: str = "", step: int = 0) -> None:
    """Write tensors with their checksum and sync them to disk.

    Not atomic: see `replace_weights`.
    """
    contiguous = _own_memory(tensors)
    with explain_full_disk(path, needed=sum(tensor.nbytes for tensor in contiguous.values())):
        path.touch()
        mode = stat.S_IMODE(path.stat().st_mode)
        try:
            save_file(
                contiguous,
                path,
                metadata={"seqlab": f"sha256:{BLANK.decode()} run:{run_id}{STEP.decode()}{step}"},
            )
        except SafetensorError as error:
            raise _as_system_error(error) from error
        path.chmod(mode)  # safetensors creates files that only their owner can read; follow the umask instead
        header = read_weights_header(path)
        digest = _digest(path, header)
        with path.open("r+b") as file:
            file.seek(8 + _place(path, header))
            file.write(digest)
            file.flush()
            os.fsync(file.fileno())


def replace_weights(path: Path, tensors: Mapping[str, Tensor], *, run_id: str = "", step: int = 0) -> None:
    """Replace a weights file atomically."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        write_weights(temporary, tensors, run_id=run_id, step=step)
        with explain_full_disk(path, needed=0):  # a rename needs no space
            temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
    sync_folder(path.parent)


def read_weights(
    path: Path,
    *,
    expected: Mapping[str, Tensor] | None = None,
    run_id: str | None = None,
    least_step: int = 0,
    verified: bool = False,
) -> dict[str, Tensor]:
    """Read a file after checking its header, its checksum and, if given, names, shapes and run.

    `least_step` rejects weights of the same run from an earlier step. `verified` skips the checksum because
    the caller has just compared the file with its own.
    """
    header = read_weights_header(path)
    if expected is not None:
        compare_shapes(header.shapes, expected, where=path)
    place = _place(path, header)
    written, _, rest = header.raw[place:].partition(b'"')[0].partition(b" run:")
    run, _, step = rest.partition(STEP)
    if not verified and written != _digest(path, header):
        raise damaged_weights(path, "its content does not match its checksum")
    if run_id is not None and run != run_id.encode():
        raise RunError(
            "the weights belong to another run.",
            where=str(path),
            cure="Restore the file that was trained here, or train again.",
        )
    if least_step and (not step.isdigit() or int(step) < least_step):
        raise RunError(
            f"the weights are from step {step.decode(errors='replace')[:20] or 'unknown'}, older than the best weights"
            f" of the run, from step {least_step}.",
            where=str(path),
            cure=f"Restore the file from a copy, or write it again: seqlab train --resume {path.parent}",
        )
    try:
        return load_file(path)
    except (SafetensorError, RuntimeError, ValueError) as error:  # checks that only safetensors makes
        raise damaged_weights(path, "it cannot be read") from error


def compare_shapes(shapes: Mapping[str, Shape], expected: Mapping[str, Tensor], *, where: Path) -> None:
    """Reject tensors that do not match the model of the recipe."""
    wrong = [f"{name} is missing" for name in expected if name not in shapes]
    wrong += [f"{name} is not part of the model" for name in shapes if name not in expected]
    wrong += [
        f"{name} has shape {list(shape)}, expected {list(expected[name].shape)}"
        for name, shape in shapes.items()
        if name in expected and shape != tuple(expected[name].shape)
    ]
    if wrong:
        more = f" and {len(wrong) - 3} more" if len(wrong) > 3 else ""
        mistakes = "; ".join(mistake[:200] for mistake in wrong[:3])
        raise RunError(
            f"the weights do not fit the recipe: {mistakes}{more}.",
            where=str(where),
            cure="Recipe and weights must come from the same run.",
        )


def _own_memory(tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Return contiguous CPU tensors that share no memory, as safetensors requires."""
    separate: dict[str, Tensor] = {}
    seen: set[int] = set()
    for name, tensor in tensors.items():
        plain = tensor.detach().cpu().contiguous()
        memory = plain.untyped_storage().data_ptr()
        separate[name] = plain.clone() if memory in seen else plain
        seen.add(memory)
    return separate


def _digest(path: Path, header: Header) -> bytes:
    """Return the SHA-256 of the file with its checksum zeroed."""
    place = _place(path, header)
    digest = hashlib.sha256(len(header.raw).to_bytes(8, "little"))
    digest.update(header.raw[:place] + BLANK + header.raw[place + len(BLANK) :])
    with path.open("rb") as file:
        file.seek(8 + len(header.raw))
        while chunk := file.read(CHUNK):
            digest.update(chunk)
    return digest.hexdigest().encode()


def _place(path: Path, header: Header) -> int:
    """Return the offset of the checksum in the header."""
    mark = header.raw.find(MARK)
    if mark < 0:
        raise damaged_weights(path, "it carries no checksum")
    return mark + len(MARK)


def _as_system_error(error: SafetensorError) -> OSError:
    """Recover the system's error number, which safetensors only mentions in its text."""
    for number in (28, 27, 122):  # no space, file too large, quota
        if f"os error {number}" in str(error):
            return OSError(number, os.strerror(number))
    return OSError(str(error))
