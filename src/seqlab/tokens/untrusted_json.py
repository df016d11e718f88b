"""Reads JSON from untrusted files: limited in size, with clear errors."""

from __future__ import annotations

import json
from pathlib import Path

from seqlab.core.errors import RunError
from seqlab.core.files import megabytes


def read_json_object(path: Path, *, largest: int) -> dict[str, object]:
    """The object in a JSON file of at most `largest` bytes; anything else raises a RunError that does not quote
    the content.
    """
    _check_size(path, largest=largest)
    try:
        data = json.loads(path.read_bytes().decode("utf-8"))
    except OSError as error:
        raise damaged(path, f"cannot be read ({error.strerror})") from error
    except UnicodeDecodeError as error:
        raise damaged(path, f"is not UTF-8 (byte {error.start})") from error
    except json.JSONDecodeError as error:
        raise damaged(path, f"is not valid JSON (line {error.lineno}, column {error.colno})") from error
    except (RecursionError, ValueError) as error:  # nested too deeply; a number with thousands of digits
        raise damaged(path, "contains JSON that no tokenizer needs") from error
    if not isinstance(data, dict):
        raise damaged(path, f"contains {_kind(data)}, expected an object")
    return data


def list_of_texts(data: dict[str, object], name: str, *, path: Path) -> list[str]:
    """A field that must be a list of strings."""
    value = data.get(name)
    if not isinstance(value, list):
        raise damaged(path, f"has {_kind(value)} as '{name}', expected a list of strings")
    wrong = next((item for item in value if not isinstance(item, str)), None)
    if wrong is not None or None in value:
        raise damaged(path, f"has {_kind(wrong)} in '{name}', expected only strings")
    return value


def list_of_numbers(data: dict[str, object], name: str, *, path: Path) -> list[float]:
    """A field that must be a list of finite numbers."""
    value = data.get(name)
    if not isinstance(value, list):
        raise damaged(path, f"has {_kind(value)} as '{name}', expected a list of numbers")
    for item in value:
        if isinstance(item, bool) or not isinstance(item, int | float) or not abs(item) < 1e308:
            raise damaged(path, f"has {_kind(item)} in '{name}', expected only finite numbers")
    return [float(item) for item in value]


def damaged(path: Path, what: str) -> RunError:
    """The error for a damaged file."""
    return RunError(
        f"the file {what}.", where=str(path), cure="Restore the file from a copy of the run, or train again."
    )


def _check_size(path: Path, *, largest: int) -> None:
    if not path.exists():
        raise RunError(
            "there is no such file.",
            where=str(path),
            cure="Is this the folder of a finished run? Restore the file or train again.",
        )
    if not path.is_file():
        raise damaged(path, "is not a regular file")
    size = path.stat().st_size
    if size > largest:
        raise damaged(path, f"is {megabytes(size)}, larger than the limit of {megabytes(largest)}")


def _kind(value: object) -> str:
    names = {
        dict: "an object",
        list: "a list",
        str: "a text",
        bool: "true or false",
        int: "a number",
        float: "a number",
    }
    return names.get(type(value), "nothing")
