"""Tags that mark spans: whether a file follows the tagging scheme, and the scores of the spans."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from seqlab.metrics.items import Items, SumItems, ratio_or_zero
from seqlab.metrics.score import Score
from seqlab.metrics.score_with_interval import score_with_interval
from seqlab.metrics.spans import UNNAMED, SpanScores, TaggingScheme, compare_spans, split_tag
from seqlab.pages.report_data import ClassLine
from seqlab.pages.sections.base import ReportSection
from seqlab.pages.sections.classes import SpanTypeScores
from seqlab.pages.sections.facts import SpanFacts

SHOWN = 3
OUTSIDE = ("O", UNNAMED)
"""The tag before the first word and after the last."""
Tagged = Sequence[Sequence[str]]
"""The tags of several sentences."""


@dataclass
class SpanRules:
    """Violations of the tagging scheme in the sentences of a split.

    faults: I-X (or E-X) that does not continue a span of type X and, in schemes that mark ends, B-X or I-X
    that is not continued.
    """

    scheme: TaggingScheme
    faults: int = 0
    needless: int = 0
    """B-X that does not follow a span of the same type, where IOB1 would use I-X."""
    first: list[str] = field(default_factory=list)

    def look(self, tags: Sequence[str], *, where: str) -> None:
        marked = [split_tag(tag) for tag in tags]
        for place, (before, here) in enumerate(pairwise([OUTSIDE, *marked])):
            is_open = before[0] in "BI" and before[1] == here[1]
            if here[0] == "B":
                self.needless += not is_open
            if here[0] in "IE" and not is_open:
                self._fault(
                    f"{where}, word {place + 1}: {tags[place]} after"
                    f" {tags[place - 1] if place else 'the beginning'}"
                )
        if not self.scheme.end:
            return
        for place, (here, behind) in enumerate(pairwise([*marked, OUTSIDE])):
            if here[0] in "BI" and not (behind[0] in "IE" and behind[1] == here[1]):
                self._fault(
                    f"{where}, word {place + 1}: {tags[place]} before"
                    f" {tags[place + 1] if place + 1 < len(tags) else 'the end'}"
                )

    def _fault(self, place: str) -> None:
        self.faults += 1
        if len(self.first) < SHOWN:
            self.first.append(place)

    def sentence(self) -> str:
        """Return a note for the user; empty if there are no violations."""
        if not self.faults:
            return ""
        if self.scheme.end:
            end, single = self.scheme.end, self.scheme.single
            return (
                f"{self.faults:,} tags violate {self.scheme.name}, in which a span is B-X, I-X …, {end}-X, or"
                f" {single}-X alone; such a span begins and ends where its type does. The first:"
                f" {'; '.join(self.first)}"
            )
        if not self.needless:
            return (
                f"the tags are IOB1, as in CoNLL-2003: {self.faults:,} spans begin with I, and B is used only between"
                " adjacent spans of one type. They are trained and scored unchanged"
            )
        return (
            f"{self.faults:,} tags I-X do not continue a span of type X; each counts as the beginning of a span."
            f" The first: {'; '.join(self.first)}"
        )


def span_items(spans: SpanScores) -> dict[str, Items]:
    """Return the items of the span scores: all sentences, including those without spans, so that they are
    the same for every model.
    """
    right, predicted, present = spans.by_sentence.T  # (sentences,) each
    sums = {
        "span_f1": (2 * right, predicted + present),
        "span_precision": (right, predicted),
        "span_recall": (right, present),
    }
    return {
        name: SumItems(np.arange(len(right)), np.stack(parts, axis=1), ratio_or_zero)
        for name, parts in sums.items()
    }


def span_scores(
    spans: SpanScores, baseline: SpanScores | None, *, scheme: TaggingScheme, baseline_name: str
) -> list[Score]:
    """Return F1, precision and recall of spans, with intervals over sentences, compared with a baseline."""
    counts, items = spans.overall, span_items(spans)
    baseline_items = {} if baseline is None else span_items(baseline)
    methods = {
        "f1": f"2 · correct / (predicted + true) over {counts.support:,} spans",
        "precision": f"share of {counts.predicted:,} predicted spans that are correct",
        "recall": f"share of {counts.support:,} true spans that are found",
    }
    scores = []
    for name, definition in methods.items():
        method = (
            f"{definition}, tags read as {scheme.name}; correct means same type and same boundaries (seqeval's"
            " default); 95% CI by bootstrap over sentences"
        )
        scores.append(
            score_with_interval(
                f"span_{name}",
                items[f"span_{name}"],
                baseline=baseline_items.get(f"span_{name}"),
                baseline_name=baseline_name,
                method=method,
                unit="sentences",
            )
        )
    return scores


def span_sections(truth: Tagged, predicted: Tagged, *, scheme: TaggingScheme) -> list[ReportSection]:
    """Return the scores of every span type, and how many predicted tags violate the scheme, as plain data."""
    spans, strict = compare_spans(truth, predicted), compare_spans(truth, predicted, read=scheme.strict)
    rules = SpanRules(scheme)
    for tags in predicted:
        rules.look(tags, where="")
    return [
        SpanTypeScores(_lines(spans)),
        SpanFacts(scheme.name, spans.overall.support, strict.overall.f1, rules.faults),
    ]


def _lines(spans: SpanScores) -> list[ClassLine]:
    return [
        ClassLine(kind, scores.precision, scores.recall, scores.f1, scores.support)
        for kind, scores in spans.by_type.items()
    ]
