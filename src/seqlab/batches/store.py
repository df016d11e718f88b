"""Encoded sequences on disk in named, typed columns, read on demand: a corpus may be larger than memory.

>>> import tempfile
>>> import numpy as np
>>> from seqlab.batches.store_writer import StoreWriter
>>> temporary = tempfile.TemporaryDirectory()
>>> folder = Path(temporary.name)
>>> columns = [StepColumn("tokens", np.dtype(np.uint16)), SequenceColumn("label", np.dtype(np.int32))]
>>> writer = StoreWriter(folder, columns)
>>> writer.append(tokens=[5, 6, 7], label=1)
>>> writer.append(tokens=[8], label=0)
>>> writer.finish()
>>> store = Store(folder)
>>> store["tokens"][0].tolist(), store["tokens"].lengths.tolist(), store["tokens"].window(2, 4).tolist()
([5, 6, 7], [3, 1], [7, 8])
>>> store["label"][np.array([1, 0])].tolist()
[0, 1]
>>> temporary.cleanup()
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from seqlab.batches.columns import Column, SequenceColumn, StepColumn, column_from_json
from seqlab.batches.store_writer import FORMAT, INDEX
from seqlab.batches.stored_column import StoredColumn, StoredSteps, StoredValues
from seqlab.core.digests import is_intact, without_digest
from seqlab.core.errors import DataError


class Store:
    """The columns that a StoreWriter wrote, by name. Stays readable after its files are removed.

    verify: compute the digest of every file and compare it with the index; a mismatch raises DataError.
    """

    def __init__(self, folder: Path, *, verify: bool = True) -> None:
        if verify and (damaged := damaged_files(folder)):
            raise DataError(
                f"the store is incomplete or corrupted: {', '.join(damaged)}.",
                where=str(folder),
                cure="Delete the folder; the store will be rebuilt.",
            )
        index = _read_index(folder)
        self.rebuilt: list[str] = []
        """Files that were found damaged in the cache, so that the store was rebuilt."""
        self.facts: dict[str, Any] = index["facts"]
        self._count: int = index["sequences"]
        self._columns = {
            plain["name"]: self._open(folder, column_from_json(plain)) for plain in index["columns"]
        }

    def _open(self, folder: Path, column: Column) -> StoredColumn:
        if isinstance(column, StepColumn):
            return StoredSteps(folder, column)
        assert isinstance(column, SequenceColumn)
        return StoredValues(folder, column, num_sequences=self._count)

    def __len__(self) -> int:
        """The number of sequences."""
        return self._count

    def __getitem__(self, name: str) -> StoredColumn:
        try:
            return self._columns[name]
        except KeyError:
            raise KeyError(f"the store has no column '{name}'; it has {', '.join(self._columns)}") from None

    @property
    def columns(self) -> list[Column]:
        """The columns as declared."""
        return [stored.column for stored in self._columns.values()]


def damaged_files(folder: Path) -> list[str]:
    """The files that are missing or differ from what was written; empty for an intact store.

    If the index is damaged, it is the only file listed.
    """
    try:
        index = _read_index(folder)
        files = {
            name: index["files"][name] for plain in index["columns"] for name in column_from_json(plain).files
        }
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return [INDEX]
    return [name for name, record in files.items() if not _is_intact(folder / name, record)]


def _is_intact(path: Path, record: object) -> bool:
    try:
        return path.is_file() and is_intact(path, record)
    except OSError:
        return False


def _read_index(folder: Path) -> dict[str, Any]:
    if not (folder / INDEX).is_file():  # reading a pipe or a device would never end
        raise FileNotFoundError(folder / INDEX)
    index: dict[str, Any] = without_digest(json.loads((folder / INDEX).read_text(encoding="utf-8")))
    if index["format"] != FORMAT:
        raise ValueError(f"the store has format {index['format']}, expected {FORMAT}")
    return index
