"""Rows whose label is probably wrong, with file and line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

from seqlab.pages.html import Markup, tag, text
from seqlab.pages.numbers import format_probability
from seqlab.pages.sections.base import ReportSection, report_sections

MAX_CHARACTERS = 200


@dataclass(frozen=True)
class LabelError:
    """One row, the label it has and the class that a model is sure of which has not seen it."""

    where: str
    text: str
    label: str
    predicted: str
    probability: float
    by: str
    """Whose prediction it is: "this model" or the name of a baseline."""


@report_sections.register("label_errors")
@dataclass(frozen=True)
class LabelErrors(ReportSection):
    """Likely label errors, the most certain first."""

    kind = "label_errors"
    title = "Likely label errors"
    position = 85

    errors: Sequence[LabelError]
    found: int
    """How many there are; the first are listed."""

    @classmethod
    def from_json(cls, value: Any) -> Self:
        return cls([LabelError(**error) for error in value["errors"]], value["found"])

    def lines(self) -> list[str]:
        if not self.errors:
            return []
        more = f" candidates, the {len(self.errors)} most certain" if self.found > len(self.errors) else ""
        return [
            f"likely label errors ({self.found:,}{more}):",
            *(
                f"    {error.where}: labeled {error.label!r}, {error.by} predicts {error.predicted!r}"
                f" ({error.probability:.2f})"
                for error in self.errors
            ),
        ]

    def html(self) -> Markup | None:
        if not self.errors:
            return None
        note = (
            "Rows for which a model that has not seen them is sure of another label. Check them in the file: in"
            " held-out data they distort the score, in training data they teach mistakes."
        )
        heads = [tag("th", name, scope="col") for name in ("row", "label", "predicted", "text")]
        table = tag("table", tag("thead", tag("tr", *heads)), tag("tbody", *map(_row, self.errors)))
        return tag("div", tag("p", note, class_="quiet"), tag("div", table, class_="scroll"))


def _row(error: LabelError) -> Markup:
    return tag(
        "tr",
        tag("td", error.where),
        tag("td", tag("bdi", error.label[:60])),
        tag("td", tag("bdi", error.predicted[:60]), f" {format_probability(error.probability)} ({error.by})"),
        tag("td", text(error.text, limit=MAX_CHARACTERS), dir="auto"),
    )
