"""Export a run in a format that other programs read. Each format is one file of this package."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from seqlab.core.registry import Registry
from seqlab.runs.run import Run


@dataclass(frozen=True)
class ExportResult:
    """A summary of what was written."""

    path: Path
    summary: str
    details: dict[str, Any]
    next_commands: list[str]
    """Suggested next commands."""


class Exporter(ABC):
    """One export format."""

    suffix: ClassVar[str]
    """Default file suffix of the format."""

    @abstractmethod
    def write(self, run: Run, path: Path) -> ExportResult:
        """Write what the format can represent of a run, atomically."""


exporters: Registry[type[Exporter]] = Registry("format", package="seqlab.interop")


def export_to_format(run: Run, to: str, out: str | Path = "") -> ExportResult:
    """Export a run to a file or folder; by default RUN.SUFFIX in the current folder."""
    exporter = exporters.get(to)()
    return exporter.write(run, Path(out or f"{run.folder.name}{exporter.suffix}"))
