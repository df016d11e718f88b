"""Read small JSON files of a published model from an untrusted folder."""

from __future__ import annotations

from pathlib import Path

from seqlab.core.errors import DataError, RunError
from seqlab.tokens.untrusted_json import read_json_object

REDOWNLOAD_HINT = "Is the folder complete? Download the model again."
MAX_CONFIG_BYTES = 2_000_000


def read_json(path: Path, *, max_bytes: int = MAX_CONFIG_BYTES) -> dict[str, object]:
    """The object in a JSON file; anything else is a DataError."""
    try:
        return read_json_object(path, largest=max_bytes)
    except RunError as error:  # same message as for a run's own files, different cure
        raise DataError(error.what, where=str(path), cure=REDOWNLOAD_HINT) from error


def read_optional_json(path: Path, *, max_bytes: int = MAX_CONFIG_BYTES) -> dict[str, object]:
    """Like `read_json`, but empty if there is no such file."""
    return read_json(path, max_bytes=max_bytes) if path.is_file() else {}
