"""Examples of generated outputs with their references."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

from seqlab.pages.html import Markup, tag
from seqlab.pages.sections.base import ReportSection, report_sections


@dataclass(frozen=True)
class TranslationExample:
    """One source with the output of the model and the references."""

    where: str
    source: str
    written: str
    wanted: Sequence[str]


@report_sections.register("translations")
@dataclass(frozen=True)
class Translations(ReportSection):
    """Examples of generated targets."""

    kind = "translations"
    title = "Example outputs"
    position = 64
    examples: Sequence[TranslationExample]

    @classmethod
    def from_json(cls, value: Any) -> Self:
        return cls([TranslationExample(**example) for example in value["examples"]])

    def html(self) -> Markup | None:
        if not self.examples:
            return None
        rows = [
            tag(
                "tr",
                *(tag("td", text) for text in (example.source, example.written, " | ".join(example.wanted))),
            )
            for example in self.examples
        ]
        head = tag("tr", *(tag("th", name) for name in ("source", "output", "reference")))
        return tag("div", tag("table", tag("thead", head), tag("tbody", *rows)), class_="scroll")
