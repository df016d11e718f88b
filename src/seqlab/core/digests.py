"""Sizes and SHA-256 digests of files, which reveal any byte that changed since they were
written.

    record = {"size": 1234, "sha256": "9f86d0…"}

SHA-256 rather than BLAKE2b: most processors compute it in hardware, where it is the faster of the two.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any, TypedDict

from seqlab.core.files import sha256


class FileRecord(TypedDict):
    """What is known about a file when it is written."""

    size: int
    sha256: str


class RunningDigest:
    """The record of a file that is written piece by piece."""

    def __init__(self) -> None:
        self._digest = hashlib.sha256()
        self._size = 0

    def update(self, data: bytes | bytearray) -> None:
        self._digest.update(data)
        self._size += len(data)

    def record(self) -> FileRecord:
        return {"size": self._size, "sha256": self._digest.hexdigest()}


def record_of(content: bytes) -> FileRecord:
    """
    >>> record_of(b"abc")["size"], record_of(b"abc")["sha256"][:8]
    (3, 'ba7816bf')
    """
    return {"size": len(content), "sha256": hashlib.sha256(content).hexdigest()}


def record_of_file(path: Path) -> FileRecord:
    return {"size": path.stat().st_size, "sha256": sha256(path)}


def is_intact(path: Path, record: object) -> bool:
    """Whether a file is as its record says; a file of another size is not read.

    Raises OSError where there is no file.
    """
    return (
        isinstance(record, dict)
        and path.stat().st_size == record.get("size")
        and sha256(path) == record.get("sha256")
    )


def with_digest(content: Any) -> dict[str, Any]:
    """Plain data with its digest, to be written as JSON.

    >>> without_digest(with_digest({"width": 3}))
    {'width': 3}
    """
    return {"sha256": _digest(content), "content": content}


def without_digest(value: Any) -> Any:
    """The content of what `with_digest` made, read from JSON; ValueError if it was changed since.

    >>> without_digest({**with_digest({"width": 3}), "content": {"width": 2}})
    Traceback (most recent call last):
    ValueError: the content does not match its digest
    """
    if (
        not isinstance(value, dict)
        or "content" not in value
        or value.get("sha256") != _digest(value["content"])
    ):
        raise ValueError("the content does not match its digest")
    return value["content"]


def _digest(content: Any) -> str:
    """The digest of the JSON text, which does not change by reading and writing it."""
    return hashlib.sha256(json.dumps(content).encode()).hexdigest()
