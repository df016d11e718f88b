"""The registry of file formats: which class reads which file extensions."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from seqlab.core.part_name import PartName
from seqlab.core.registry import Registry

if TYPE_CHECKING:
    from seqlab.sources.base import Source
    from seqlab.sources.settings import DataSettings


class FileFormat(Protocol):
    """A class of sources (`Source`) that is built from a path and the section `data`."""

    @property
    def suffixes(self) -> tuple[str, ...]: ...

    def __call__(self, path: Path, settings: DataSettings, /) -> Source: ...


source_formats: Registry[FileFormat] = Registry("source format", package="seqlab.sources.formats")


class FormatName(PartName):
    """The name of a file format in a recipe; empty: inferred from the file name."""

    registry = source_formats
    also = ("",)


def formats_by_suffix() -> dict[str, str]:
    """Formats by file extension, including those of plug-ins."""
    return {suffix: name for name in source_formats.names() for suffix in source_formats.get(name).suffixes}
