"""Tensors on disk as safetensors files that check themselves.

safetensors has no checksum: a flipped byte loads. Ours carry the SHA-256 of the whole file (its own place
blanked) in the header, beside the id of the run they belong to and, for the best weights of a run, their step.
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
"""What stands before the checksum.

One entry holds checksum and run id: safetensors writes several in any order.
"""


STEP = b" step:"


def write_weights(path: Path, tensors: Mapping[str, Tensor], *, run_id: str = "", step: int = 0) -> None:
    """Write tensors with their checksum and wait until they are on the disk.

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
        path.chmod(mode)  # safetensors makes files that only their owner can read; the umask decides here too
        header = read_weights_header(path)
        digest = _digest(path, header)
        with path.open("r+b") as file:
            file.seek(8 + _place(path, header))
            file.write(digest)
            file.flush()
            os.fsync(file.fileno())


def replace_weights(path: Path, tensors: Mapping[str, Tensor], *, run_id: str = "", step: int = 0) -> None:
    """Write tensors so that the file is the old one or the new one, never a part."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        write_weights(temporary, tensors, run_id=run_id, step=step)
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
    """Read a file after checking header, checksum and, when given, names, shapes and the run it belongs to.

    `least_step` refuses weights of the same run from an earlier step. `verified` says that somebody has just
    compared the file with a checksum of his own.
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
            f"the weights are of step {step.decode(errors='replace')[:20] or 'unknown'}, older than the best of"
            f" the run, which are of step {least_step}.",
            where=str(path),
            cure=f"Restore the file from a copy, or write it again: seqlab train --resume {path.parent}",
        )
    try:
        return load_file(path)
    except (SafetensorError, RuntimeError, ValueError) as error:  # whatever it knows that we do not
        raise damaged_weights(path, "it cannot be read") from error


def compare_shapes(shapes: Mapping[str, Shape], expected: Mapping[str, Tensor], *, where: Path) -> None:
    """Refuse tensors that are not those of the model that the recipe describes."""
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
    """Contiguous tensors on the CPU of which no two share memory, as safetensors wants them."""
    separate: dict[str, Tensor] = {}
    seen: set[int] = set()
    for name, tensor in tensors.items():
        plain = tensor.detach().cpu().contiguous()
        memory = plain.untyped_storage().data_ptr()
        separate[name] = plain.clone() if memory in seen else plain
        seen.add(memory)
    return separate


def _digest(path: Path, header: Header) -> bytes:
    """SHA-256 of the file with the place of the checksum blanked."""
    place = _place(path, header)
    digest = hashlib.sha256(len(header.raw).to_bytes(8, "little"))
    digest.update(header.raw[:place] + BLANK + header.raw[place + len(BLANK) :])
    with path.open("rb") as file:
        file.seek(8 + len(header.raw))
        while chunk := file.read(CHUNK):
            digest.update(chunk)
    return digest.hexdigest().encode()


def _place(path: Path, header: Header) -> int:
    """Where in the header the checksum stands."""
    mark = header.raw.find(MARK)
    if mark < 0:
        raise damaged_weights(path, "it carries no checksum")
    return mark + len(MARK)


def _as_system_error(error: SafetensorError) -> OSError:
    """safetensors hides the system's error number in its text."""
    for number in (28, 27, 122):  # no space, file too large, quota
        if f"os error {number}" in str(error):
            return OSError(number, os.strerror(number))
    return OSError(str(error))
