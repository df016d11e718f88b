"""Out of seqlab: a run in a format that other programs read. A format is one file of this room."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from seqlab.core.registry import Registry
from seqlab.runs.run import Run


@dataclass(frozen=True)
class ExportResult:
    """What was written, for people and for programs."""

    path: Path
    summary: str
    details: dict[str, Any]
    next_commands: list[str]
    """What one would type next."""


class Exporter(ABC):
    """One format."""

    suffix: ClassVar[str]
    """How a file of the format is called where no name is given."""

    @abstractmethod
    def write(self, run: Run, path: Path) -> ExportResult:
        """Write what the format can hold of a run, whole or not at all."""


exporters: Registry[type[Exporter]] = Registry("format", package="seqlab.interop")


def export_to_format(run: Run, to: str, out: str | Path = "") -> ExportResult:
    """Write a run in a format, to a file or into a folder of that name; RUN.SUFFIX in this folder when none
    is given.
    """
    exporter = exporters.get(to)()
    return exporter.write(run, Path(out or f"{run.folder.name}{exporter.suffix}"))
