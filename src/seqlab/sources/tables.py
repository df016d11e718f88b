"""Tables in memory as data: opened as a source, or saved so that a recipe can name them.

pandas, polars, Arrow and Hugging Face tables are recognized by their methods; none of these packages is imported.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from seqlab.core.cache import cache_folder
from seqlab.core.errors import UsageError, closest, listed
from seqlab.core.files import write_whole
from seqlab.sources.base import IN_MEMORY, place_of
from seqlab.sources.in_memory import InMemoryRows
from seqlab.sources.lone_surrogates import reject_lone_surrogates
from seqlab.sources.split_names import SPLITS
from seqlab.sources.table_rows import read_rows


def is_table(value: Any) -> bool:
    """Whether a value is a table whose columns have names.

    >>> is_table([{"text": "a"}]), is_table(["a"]), is_table([])
    (True, False, False)
    """
    if isinstance(value, Mapping):
        return False
    if isinstance(value, Sequence):
        return bool(value) and all(isinstance(row, Mapping) for row in value)
    return hasattr(value, "columns") or hasattr(value, "column_names")


def is_splits(value: Any) -> bool:
    """Whether a value is a dict of splits, as a Hugging Face DatasetDict is.

    >>> is_splits({"train": [{"text": "a"}], "test": "test.csv"}), is_splits({"text": ["a"], "label": ["b"]})
    (True, False)
    """
    return (
        isinstance(value, Mapping)
        and "train" in value
        and all(isinstance(part, str | Path) or _has_rows(part) for part in value.values())
    )


def _has_rows(part: Any) -> bool:
    return is_table(part) or (
        isinstance(part, Sequence) and all(isinstance(row, tuple | list | Mapping) for row in part)
    )


def open_table(value: Any, *, name: str = IN_MEMORY) -> InMemoryRows:
    """A table in memory as a source. Columns are those of any row, in the order in which they first occur."""
    rows = read_rows(value)
    for number, row in enumerate(rows, start=1):
        reject_lone_surrogates(row, where=place_of(name, number), cure="Fix or remove the row.")
    columns = list(dict.fromkeys(column for row in rows for column in row))
    return InMemoryRows(name, columns, [{column: row.get(column) for column in columns} for row in rows])


def save_table(value: Any) -> Path:
    """A table in memory as a JSON-lines file in the cache, in a folder named after its content, so that a run
    can read its data again.
    """
    values = (_finite(row.values) for row in open_table(value).rows())
    lines = "".join(json.dumps(row, ensure_ascii=False, default=str) + "\n" for row in values)
    content = lines.encode()  # valid text, as `open_table` checked
    digest = hashlib.blake2b(content, digest_size=8).hexdigest()
    path = cache_folder() / "tables" / digest / "table.jsonl"
    if not path.is_file() or path.read_bytes() != content:  # a file in the cache may be damaged
        write_whole(path, content)
    return path


def save_splits(data: Any) -> dict[str, str]:
    """The data passed from Python, as names that a recipe can store: `train` and, if present, `valid`
    and `test`.

    Tables are saved; names of files, datasets and recipes are unchanged.
    """
    if not is_splits(data):
        _reject_misspelled_train(data)
        return {"train": _name_of(data)}
    unknown = [repr(name) for name in data if name not in SPLITS]
    names = [SPLITS[name] for name in data if name in SPLITS]
    if unknown or len(set(names)) < len(names):
        problem = (
            f"unknown split {listed(unknown)}" if unknown else f"duplicate split in {listed(list(data))}"
        )
        raise UsageError(
            f"{problem}.", where="data", cure=f"Splits are named {listed(list(SPLITS))}; remove any others."
        )
    return {SPLITS[name]: _name_of(part) for name, part in data.items()}


def _reject_misspelled_train(data: Any) -> None:
    """Reject a dict of tables without the split `train`, which would be read as a dict of columns."""
    if (
        isinstance(data, Mapping)
        and data
        and all(map(is_table, data.values()))
        and (close := closest("train", data))
    ):
        raise UsageError(
            f"there is no split called 'train' among {listed(list(data))}.",
            where="data",
            cure=f"Did you mean 'train' by '{close}'? Splits are named {listed(list(SPLITS))}.",
        )


def _name_of(data: Any) -> str:
    """The name of a file or dataset: the one passed, or that of the saved table."""
    if isinstance(data, str) and "\n" in data:
        raise UsageError(
            "found text with several lines, expected a file name.",
            where="data",
            cure="Write the text to a file and pass the file name.",
        )
    return str(data) if isinstance(data, str | Path) else str(save_table(data))


def _finite(value: Any) -> Any:
    """JSON has neither NaN nor infinity: such numbers count as missing."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {name: _finite(part) for name, part in value.items()}
    return [_finite(part) for part in value] if isinstance(value, list | tuple) else value
