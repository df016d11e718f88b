"""Published tensors on disk: safetensors in one file or several, or a pickle read without running anything."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open
from torch import Tensor

from seqlab.core.errors import DataError, RunError
from seqlab.interop.formats.json_files import AGAIN, read_json
from seqlab.interop.tensor_map import Shape, Wanted
from seqlab.training.checkpoints.weights_header import read_header

ONE_FILE, INDEX, PICKLE = "model.safetensors", "model.safetensors.index.json", "pytorch_model.bin"
LARGEST_INDEX = 50_000_000
OLD_NAMES = ((".gamma", ".weight"), (".beta", ".bias"))
"""What norms called their two vectors before they were renamed."""


class Tensors(ABC):
    """Names and shapes, known without reading a number; the tensors themselves one by one, as float32."""

    shapes: Mapping[str, Shape]

    @abstractmethod
    def read(self, name: str) -> Tensor: ...

    def name_in_file(self, name: str) -> str:
        """What the file calls a tensor."""
        return name

    def build(self, wanted: Wanted) -> Tensor:
        """A tensor of seqlab's, out of those that it is made of."""
        return wanted.make(*(self.read(name).to(torch.float32) for name, _ in wanted.parts)).contiguous()


class SafeTensors(Tensors):
    """Files that were checked from their headers alone."""

    def __init__(self, files: Mapping[str, Path]) -> None:
        """files: which file holds a tensor."""
        headers = {path: _shapes_in(path) for path in dict.fromkeys(files.values())}
        lost = [name for name, path in files.items() if name not in headers[path]]
        if lost:
            raise DataError(f"the index names {len(lost)} tensors that its files do not hold: {lost[0][:80]}.", where=str(files[lost[0]]), cure=AGAIN)
        unnamed = [(path, name) for path, shapes in headers.items() for name in shapes if files.get(name) != path]
        if unnamed:
            path, name = unnamed[0]
            raise DataError(f"the index does not name {len(unnamed)} tensors of this file: {name[:120]}.", where=str(path), cure=AGAIN)
        names = new_names(files, _new_name, where=str(next(iter(files.values()), "")))
        self._places = {new: (files[name], name) for new, name in names.items()}
        self.shapes = {new: headers[files[name]][name] for new, name in names.items()}

    def name_in_file(self, name: str) -> str:
        return self._places[name][1]

    def read(self, name: str) -> Tensor:
        path, published = self._places[name]
        try:
            with safe_open(path, framework="pt") as file:
                return file.get_tensor(published)
        except (SafetensorError, OSError) as error:
            raise DataError("the file cannot be read.", where=str(path), cure=AGAIN) from error


class Pickled(Tensors):
    """The older format. Only tensors are unpickled: anything else in the file is refused before it could run."""

    def __init__(self, path: Path) -> None:
        try:
            found = torch.load(path, map_location="cpu", weights_only=True, mmap=True)
        except Exception as error:  # pickle, zip and torch each have errors of their own
            raise DataError("the file does not hold tensors and nothing else.", where=str(path), cure=f"{AGAIN} Better: as {ONE_FILE}.") from error
        if not isinstance(found, dict) or not all(isinstance(name, str) and isinstance(each, Tensor) for name, each in found.items()):
            raise DataError("the file does not hold tensors by name.", where=str(path), cure=AGAIN)
        self._tensors = {new: found[name] for new, name in new_names(found, _new_name, where=str(path)).items()}
        self.shapes = {name: tuple(tensor.shape) for name, tensor in self._tensors.items()}

    def read(self, name: str) -> Tensor:
        return self._tensors[name]


def open_tensors(folder: Path) -> Tensors:
    """The weights in the folder of a published model."""
    if (folder / ONE_FILE).is_file():
        path = folder / ONE_FILE
        return SafeTensors(dict.fromkeys(_shapes_in(path), path))
    if (folder / INDEX).is_file():
        return SafeTensors(_files_of(folder))
    if (folder / PICKLE).is_file():
        return Pickled(folder / PICKLE)
    raise DataError("there are no weights here.", where=str(folder), cure=f"Expected {ONE_FILE}, {INDEX} with its files, or {PICKLE}.")


def _files_of(folder: Path) -> dict[str, Path]:
    """Which file holds a tensor, as an index says. Its files stand beside it and nowhere else."""
    path = folder / INDEX
    listed = read_json(path, largest=LARGEST_INDEX).get("weight_map")
    if not isinstance(listed, dict) or not all(isinstance(name, str) for name in listed.values()):
        raise DataError("the index does not say which file holds which tensor.", where=str(path), cure=AGAIN)
    for name in sorted(set(listed.values())):
        if Path(name).name != name or not (folder / name).is_file():
            raise DataError(f"the index names a file that is not beside it: {name[:80]!r}.", where=str(path), cure=AGAIN)
    return {name: folder / file for name, file in listed.items()}


def _shapes_in(path: Path) -> dict[str, Shape]:
    try:
        return read_header(path).shapes
    except RunError as error:  # the words are the same for a run's own weights, the cure is not
        raise DataError(error.what, where=str(path), cure=AGAIN) from error


def new_names(names: Iterable[str], rename: Callable[[str], str], *, where: str) -> dict[str, str]:
    """The name in the file for each name that is used here; two that would become one are an error, since one of them would not be read."""
    found: dict[str, str] = {}
    for name in names:
        new = rename(name)
        if new in found:
            raise DataError(f"{found[new][:120]} and {name[:120]} are names of one tensor, and the file holds both.", where=where, cure=AGAIN)
        found[new] = name
    return found


def _new_name(name: str) -> str:
    for old, new in OLD_NAMES:
        if name.endswith(old):
            return name.removesuffix(old) + new
    return name
