"""The journal of a run, as reports and comparisons read it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from seqlab.core.digests import is_intact
from seqlab.runs.folder.layout import JOURNAL
from seqlab.runs.folder.manifest import read_manifest
from seqlab.training.journal import changed_journal, read_journal


def read_run_journal(folder: Path) -> list[dict[str, Any]]:
    """Read the events of a run, after comparing the journal with the manifest of a scored run.

    Empty if the journal was moved away.
    """
    path, record = folder / JOURNAL, read_manifest(folder).files.get(JOURNAL)
    if record is not None and path.is_file() and not is_intact(path, record):
        raise changed_journal(path)
    return read_journal(path)
