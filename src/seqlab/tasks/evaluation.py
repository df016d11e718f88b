"""The result of scoring a model on one split, with the sections of its report."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, TypeVar

from seqlab.metrics.items import Items
from seqlab.metrics.score import Score, describe_scores
from seqlab.metrics.slices import ScoreSlices
from seqlab.metrics.token_stream import TokenStream
from seqlab.pages.notebook import sentences_and_table
from seqlab.pages.report_data import ClassLine
from seqlab.pages.sections.base import ReportSection
from seqlab.pages.sections.slices import SliceChart, SlicedScores, SlicePart

AnySection = TypeVar("AnySection", bound=ReportSection)


@dataclass(frozen=True, repr=False)
class Evaluation:
    """Scores on one split, and their details as plain data for the report."""

    split: str
    scores: list[Score]
    sections: list[ReportSection] = field(default_factory=list)
    items: Mapping[str, Items] = field(default_factory=dict)
    """The independent items that each score is computed from, by score name; comparisons and slices use
    them.
    """
    answers: Sequence[tuple[str, ...]] = ()
    """The predicted label of each item, or the tags of its words, if there are any."""
    truths: Sequence[tuple[str, ...]] = ()
    """The true labels or tags."""
    stream: TokenStream | None = None
    """A scored text, to compare models with different tokenizers."""
    notes: Sequence[str] = ()
    """What the user should know about the scored data, such as rows that were skipped."""

    def __repr__(self) -> str:
        return describe_scores(self.split, self.scores)

    def _repr_html_(self) -> str:
        rows = [{"score": score.describe()} for score in self.scores]
        return sentences_and_table(f"{self.split} data", self.notes, rows)

    def sections_as_json(self) -> dict[str, Any]:
        """Return every section by its kind, as in results.json."""
        return {section.kind: section.to_json() for section in self.sections}

    def section(self, kind: type[AnySection]) -> AnySection | None:
        """Return the section of a kind, or None."""
        return next((section for section in self.sections if isinstance(section, kind)), None)


def sliced_scores(cuts: Iterable[ScoreSlices], scores: Sequence[Score]) -> SlicedScores:
    """Return scores on parts of the data, with the same score on all of it."""
    whole = {score.name: score.value for score in scores}
    return SlicedScores(
        [
            SliceChart(
                cut.by,
                cut.score,
                cut.unit,
                [SlicePart(**asdict(part)) for part in cut.parts],
                whole=whole.get(cut.score),
            )
            for cut in cuts
        ]
    )


def class_lines(
    names: Sequence[str],
    precision: Sequence[float],
    recall: Sequence[float],
    f1: Sequence[float],
    counts: Sequence[int],
) -> list[ClassLine]:
    """Return one line per class."""
    return [ClassLine(*line) for line in zip(names, precision, recall, f1, counts, strict=True)]
