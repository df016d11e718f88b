"""A digest of fitted things, for the keys of caches."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Callable
from pathlib import Path


def digest_of(save: Callable[[Path], None]) -> str:
    """A hash of all files that something saves: what it encodes depends on nothing else."""
    digest = hashlib.sha256()
    with tempfile.TemporaryDirectory() as folder:
        save(Path(folder))
        for path in sorted(path for path in Path(folder).rglob("*") if path.is_file()):
            digest.update(path.read_bytes())
    return digest.hexdigest()
