"""Published tensors on disk: safetensors in one or several files, or a pickle read without executing code."""

from __future__ import annotations

import zipfile
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open
from torch import Tensor

from seqlab.core.errors import DataError, RunError
from seqlab.core.files import megabytes
from seqlab.interop.formats.json_files import REDOWNLOAD_HINT, read_json
from seqlab.interop.tensor_map import Shape, TensorSpec
from seqlab.training.checkpoints.weights_header import read_weights_header

SAFETENSORS_FILE, INDEX_FILE, PICKLE_FILE = (
    "model.safetensors",
    "model.safetensors.index.json",
    "pytorch_model.bin",
)
MAX_INDEX_BYTES = 50_000_000
RENAMED_SUFFIXES = ((".gamma", ".weight"), (".beta", ".bias"))
"""Old names of the two vectors of a norm."""


WEIGHT_DTYPES = (torch.float64, torch.float32, torch.float16, torch.bfloat16)
MAX_SHARED = 3
"""Maximum total size of the tensors relative to the file: tied tensors share storage."""


class PublishedTensors(ABC):
    """Names and shapes from the headers; the tensors themselves are read one by one, as float32."""

    shapes: Mapping[str, Shape]
    where: str
    """The file, for errors."""

    @abstractmethod
    def read(self, name: str) -> Tensor: ...

    def name_in_file(self, name: str) -> str:
        """The name of a tensor in the file."""
        return name

    def build(self, spec: TensorSpec) -> Tensor:
        """Build one of seqlab's tensors from its published parts."""
        return spec.combine(*(self._read_weights(name) for name, _ in spec.parts)).contiguous()

    def _read_weights(self, name: str) -> Tensor:
        tensor = self.read(name)
        if tensor.dtype not in WEIGHT_DTYPES:
            kind = str(tensor.dtype).removeprefix("torch.")
            raise DataError(
                f"{self.name_in_file(name)[:120]} contains {kind} numbers, which are not weights.",
                where=self.where,
                cure="Supported types: float64, float32, float16 and bfloat16.",
            )
        return tensor.to(torch.float32)


class SafetensorsTensors(PublishedTensors):
    """Files that were checked from their headers alone."""

    def __init__(self, files: Mapping[str, Path]) -> None:
        """files: which file contains a tensor."""
        headers = {path: _shapes_in(path) for path in dict.fromkeys(files.values())}
        missing = [name for name, path in files.items() if name not in headers[path]]
        if missing:
            raise DataError(
                f"the index lists {len(missing)} tensors that its files do not contain: {missing[0][:80]}.",
                where=str(files[missing[0]]),
                cure=REDOWNLOAD_HINT,
            )
        unnamed = [
            (path, name) for path, shapes in headers.items() for name in shapes if files.get(name) != path
        ]
        if unnamed:
            path, name = unnamed[0]
            raise DataError(
                f"the index does not list {len(unnamed)} tensors of this file: {name[:120]}.",
                where=str(path),
                cure=REDOWNLOAD_HINT,
            )
        self.where = str(next(iter(files.values()), ""))
        names = map_names(files, _new_name, where=self.where)
        self._locations = {new: (files[name], name) for new, name in names.items()}
        self.shapes = {new: headers[files[name]][name] for new, name in names.items()}

    def name_in_file(self, name: str) -> str:
        return self._locations[name][1]

    def read(self, name: str) -> Tensor:
        path, published = self._locations[name]
        try:
            with safe_open(path, framework="pt") as file:
                return file.get_tensor(published)
        except (SafetensorError, OSError) as error:
            raise DataError("the file cannot be read.", where=str(path), cure=REDOWNLOAD_HINT) from error


class PickledTensors(PublishedTensors):
    """The older format.

    Only tensors are unpickled: anything else in the file is rejected before it could run.
    """

    def __init__(self, path: Path) -> None:
        self.where = str(path)
        _check_archive(path)
        try:
            loaded = torch.load(path, map_location="cpu", weights_only=True, mmap=True)
        except Exception as error:  # pickle, zip and torch each have errors of their own
            raise _no_tensors(path) from error
        if not isinstance(loaded, dict) or not all(
            isinstance(name, str) and isinstance(value, Tensor) for name, value in loaded.items()
        ):
            raise DataError("the file does not contain named tensors.", where=str(path), cure=REDOWNLOAD_HINT)
        _check_storage(loaded, path)
        self._tensors = {
            new: loaded[name] for new, name in map_names(loaded, _new_name, where=str(path)).items()
        }
        self.shapes = {name: tuple(tensor.shape) for name, tensor in self._tensors.items()}

    def read(self, name: str) -> Tensor:
        return self._tensors[name]


def _check_archive(path: Path) -> None:
    """torch stores the members of its archive uncompressed, so together they are no larger than the file."""
    try:
        with zipfile.ZipFile(path) as archive:
            members = archive.infolist()
    except (zipfile.BadZipFile, OSError, ValueError) as error:
        raise _no_tensors(path) from error
    size = sum(member.file_size for member in members)
    if any(member.compress_type != zipfile.ZIP_STORED for member in members) or size > path.stat().st_size:
        raise DataError(
            f"the file expands from {megabytes(path.stat().st_size)} to {megabytes(size)}; torch does"
            " not compress.",
            where=str(path),
            cure=REDOWNLOAD_HINT,
        )


def _check_storage(tensors: Mapping[str, Tensor], path: Path) -> None:
    """A tensor may declare more numbers than are stored: with strides of zero, or by sharing storage."""
    for name, tensor in tensors.items():
        if tensor.nbytes > tensor.untyped_storage().nbytes():
            raise DataError(
                f"{name[:120]} declares {megabytes(tensor.nbytes)}, but only"
                f" {megabytes(tensor.untyped_storage().nbytes())} are stored.",
                where=str(path),
                cure=REDOWNLOAD_HINT,
            )
    claimed, size = sum(tensor.nbytes for tensor in tensors.values()), path.stat().st_size
    if claimed > MAX_SHARED * size:
        raise DataError(
            f"its tensors declare {megabytes(claimed)}, but the file has only {megabytes(size)}.",
            where=str(path),
            cure=REDOWNLOAD_HINT,
        )


def _no_tensors(path: Path) -> DataError:
    return DataError(
        "the file contains something other than tensors.",
        where=str(path),
        cure=f"{REDOWNLOAD_HINT} Prefer {SAFETENSORS_FILE} if available.",
    )


def open_tensors(folder: Path) -> PublishedTensors:
    """The weights in the folder of a published model."""
    if (folder / SAFETENSORS_FILE).is_file():
        path = folder / SAFETENSORS_FILE
        return SafetensorsTensors(dict.fromkeys(_shapes_in(path), path))
    if (folder / INDEX_FILE).is_file():
        return SafetensorsTensors(_indexed_files(folder))
    if (folder / PICKLE_FILE).is_file():
        return PickledTensors(folder / PICKLE_FILE)
    raise DataError(
        "there are no weights here.",
        where=str(folder),
        cure=f"Expected {SAFETENSORS_FILE}, {INDEX_FILE} with its files, or {PICKLE_FILE}.",
    )


def _indexed_files(folder: Path) -> dict[str, Path]:
    """The file of each tensor according to an index; the files must be in the same folder."""
    path = folder / INDEX_FILE
    listed = read_json(path, max_bytes=MAX_INDEX_BYTES).get("weight_map")
    if not isinstance(listed, dict) or not all(isinstance(name, str) for name in listed.values()):
        raise DataError(
            "the index does not say which file holds which tensor.", where=str(path), cure=REDOWNLOAD_HINT
        )
    for name in sorted(set(listed.values())):
        if Path(name).name != name or not (folder / name).is_file():
            raise DataError(
                f"the index refers to a file that is not in its folder: {name[:80]!r}.",
                where=str(path),
                cure=REDOWNLOAD_HINT,
            )
    return {name: folder / file for name, file in listed.items()}


def _shapes_in(path: Path) -> dict[str, Shape]:
    try:
        return read_weights_header(path).shapes
    except RunError as error:  # same message as for a run's own weights, different cure
        raise DataError(error.what, where=str(path), cure=REDOWNLOAD_HINT) from error


def map_names(names: Iterable[str], rename: Callable[[str], str], *, where: str) -> dict[str, str]:
    """Map the names used here to those in the file; two names that map to the same one are an error, since
    one of them would not be read.
    """
    by_new_name: dict[str, str] = {}
    for name in names:
        new = rename(name)
        if new in by_new_name:
            raise DataError(
                f"{by_new_name[new][:120]} and {name[:120]} are two names of one tensor, but the file"
                " contains both.",
                where=where,
                cure=REDOWNLOAD_HINT,
            )
        by_new_name[new] = name
    return by_new_name


def _new_name(name: str) -> str:
    for old, new in RENAMED_SUFFIXES:
        if name.endswith(old):
            return name.removesuffix(old) + new
    return name
