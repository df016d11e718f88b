"""Small files of a published model, from a folder that nobody vouches for."""

from __future__ import annotations

from pathlib import Path

from seqlab.core.errors import DataError, RunError
from seqlab.tokens.untrusted_json import read_json_object

AGAIN = "Is the folder whole? Download the model again."
LARGEST_CONFIG = 2_000_000


def read_json(path: Path, *, largest: int = LARGEST_CONFIG) -> dict[str, object]:
    """The object in a JSON file; anything else is a DataError."""
    try:
        return read_json_object(path, largest=largest)
    except RunError as error:  # the words are the same for a run's own files, the cure is not
        raise DataError(error.what, where=str(path), cure=AGAIN) from error


def read_json_if_there(path: Path, *, largest: int = LARGEST_CONFIG) -> dict[str, object]:
    """The same, and nothing where there is no such file."""
    return read_json(path, largest=largest) if path.is_file() else {}
