"""The interface of report sections: plain data that knows its JSON, its lines for the terminal and its HTML."""

from __future__ import annotations

from abc import ABC
from dataclasses import asdict, fields, is_dataclass
from typing import Any, ClassVar, Self

from seqlab.core.registry import Registry
from seqlab.pages.html import Markup


class ReportSection(ABC):
    """One part of an evaluation beyond its scores. Every section is a frozen dataclass of plain values.

    A task makes sections, results.json keeps them, the command line prints their lines and the report page
    their HTML: none of them needs to know the task.
    """

    kind: ClassVar[str]
    """The name of the section in results.json and on the page."""
    title: ClassVar[str] = ""
    """The heading on the page; a section without one is not on it."""
    position: ClassVar[int] = 50
    """Sections with lower numbers come first."""

    def to_json(self) -> Any:
        """Plain JSON values, from which `from_json` makes the same section."""
        assert is_dataclass(self)
        return asdict(self)

    @classmethod
    def from_json(cls, value: Any) -> Self:
        assert is_dataclass(cls)
        return cls(**{field.name: value[field.name] for field in fields(cls)})

    def lines(self) -> list[str]:
        """What the command line prints."""
        return []

    def html(self) -> Markup | None:
        """The HTML of the section; None if there is nothing to show."""
        return None


report_sections: Registry[type[ReportSection]] = Registry("report section", package="seqlab.pages.sections")


def section_from_json(kind: str, value: Any) -> ReportSection | None:
    """Read a section from results.json; None for an unknown kind, such as one of a plug-in that is not
    installed.
    """
    return report_sections.get(kind).from_json(value) if kind in report_sections.names() else None
