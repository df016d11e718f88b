"""The first file of a recipe that does not exist. Nothing is read, so this is fast."""

from __future__ import annotations

from typing import Any

from pydantic import ValidationError

from seqlab.core.errors import DataError
from seqlab.datasets.base import datasets
from seqlab.recipes.read import Raw, shipped_recipes
from seqlab.sources import open_dataset as files
from seqlab.sources.settings import DataSettings

PARTS = ("train", "valid", "test")


def missing_file(data: DataSettings) -> DataError | None:
    """The error for the first file that does not exist; None if all do."""
    if data.train and not files.exists(data.train, data) and data.train not in datasets.names():
        built_in = f" Built-in datasets need no file: {', '.join(datasets.names())}."
        return files.missing(data.train, names=[*datasets.names(), *shipped_recipes()], examples=built_in)
    for path in (data.valid, data.test):
        if path and not files.exists(path, data):
            return files.missing(path)
    return None


def missing_file_of(raw: Raw) -> DataError | None:
    """The same for a recipe that has mistakes: wrong settings of the data are left out."""
    section = raw.get("data")
    values: dict[str, Any] = section if isinstance(section, dict) else {}
    try:
        data = DataSettings.model_validate(values)
    except ValidationError:
        paths = {name: path for name in PARTS if isinstance(path := values.get(name), str)}
        data = DataSettings.model_validate(paths)
    try:
        return missing_file(data)
    except DataError as error:  # a file that cannot be accessed
        return error
