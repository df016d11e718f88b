"""Spans of words (names, phrases) encoded as tags, in the common tagging schemes.

    BIO     B-X begins a span of type X, I-X continues it, O is outside
    IOBES   the same, and E-X ends a span of several words, S-X is a span of a single word
    BILOU   the same as IOBES with other prefixes: L-X ends, U-X is a single word

    precision = right / predicted,   recall = right / present,   F1 = 2 right / (predicted + present)

A span is correct if its type and both ends are. Two ways to read invalid tag sequences:

    lenient   I-X after O, or after another type, begins a span, and one without an E-X ends where it stops, as in the script of the CoNLL
              shared tasks, and seqeval by default
    strict    only B-X (or S-X) begins a span, any other I-X belongs to none, and with E tags the last one must be E (seqeval with
              mode='strict' and IOB2, IOBES or BILOU)

Papers: Ramshaw & Marcus 1995, "Text Chunking using Transformation-Based Learning", arXiv:cmp-lg/9505040,
section 4.1; marked ends: Ratinov & Roth 2009, "Design Challenges and Misconceptions in Named Entity
Recognition", section 3.2; scores: Tjong Kim Sang & Buchholz 2000, "Introduction to the CoNLL-2000 Shared
Task: Chunking".
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence, Set
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

UNNAMED = "_"
"""The type of spans whose tags have no type."""
BILOU_TO_IOBES = str.maketrans("LU", "ES")
"""Maps the prefixes of BILOU to those of IOBES."""


class Span(NamedTuple):
    """Words `first` to `last`, counted from 0, of one type."""

    type: str
    first: int
    last: int


SpanReader = Callable[[Sequence[str]], list[Span]]


def extract_spans(tags: Sequence[str]) -> list[Span]:
    """Lenient extraction, for every scheme.

    >>> extract_spans(["I-PER", "I-PER", "O", "B-LOC", "I-PER"])
    [Span(type='PER', first=0, last=1), Span(type='LOC', first=3, last=3), Span(type='PER', first=4, last=4)]
    """
    spans: list[Span] = []
    is_open = False
    for position, tag in enumerate(tags):
        mark, kind = split_tag(tag)
        if is_open and mark in "IE" and spans[-1].type == kind:
            spans[-1] = spans[-1]._replace(last=position)
        elif mark != "O":
            spans.append(Span(kind, position, position))
        is_open = mark in "BI"
    return spans


def extract_strict_spans(tags: Sequence[str]) -> list[Span]:
    """Strict extraction for schemes without end tags.

    >>> extract_strict_spans(["I-PER", "O", "B-LOC", "I-LOC", "I-PER"])
    [Span(type='LOC', first=2, last=3)]
    """
    spans: list[Span] = []
    for position, tag in enumerate(tags):
        mark, kind = split_tag(tag)
        if mark == "B":
            spans.append(Span(kind, position, position))
        elif mark == "I" and spans and spans[-1].last == position - 1 and spans[-1].type == kind:
            spans[-1] = spans[-1]._replace(last=position)
    return spans


def extract_strict_ended_spans(tags: Sequence[str]) -> list[Span]:
    """Strict extraction for schemes with end tags.

    >>> extract_strict_ended_spans(["B-PER", "I-PER", "O", "B-LOC", "E-LOC", "S-PER", "E-PER"])
    [Span(type='LOC', first=3, last=4), Span(type='PER', first=5, last=5)]
    """
    spans: list[Span] = []
    open_span: Span | None = None
    for position, tag in enumerate(tags):
        mark, kind = split_tag(tag)
        if mark in "IE" and open_span is not None and open_span.type == kind:
            open_span = open_span._replace(last=position)
        else:
            open_span = Span(kind, position, position) if mark in "BS" else None
        if open_span is not None and mark in "ES":
            spans.append(open_span)
            open_span = None
    return spans


@dataclass(frozen=True)
class TaggingScheme:
    """A tagging scheme: its tags in addition to B and I.

    end: the prefix that ends a span; single: the prefix of a single-word span; both empty in BIO. strict: the
    function for strict extraction.
    """

    name: str
    end: str
    single: str
    strict: SpanReader

    def matches(self, names: Set[str]) -> bool:
        """Whether all tags belong to this scheme and some are specific to it. Tags without types need both
        end and single tags, since bare letters are ambiguous.
        """
        if not all(re.fullmatch(rf"O|[BI{self.end}{self.single}](-.+)?", name) for name in names):
            return False
        marks = {name[:1] for name in names}
        return (
            not self.end
            or {"B", self.end} <= marks
            or any(name.startswith(f"{self.single}-") for name in names)
        )


BIO = TaggingScheme("BIO", end="", single="", strict=extract_strict_spans)
SCHEMES = (
    BIO,
    TaggingScheme("IOBES", end="E", single="S", strict=extract_strict_ended_spans),
    TaggingScheme("BILOU", end="L", single="U", strict=extract_strict_ended_spans),
)


def detect_scheme(tags: Iterable[str]) -> TaggingScheme | None:
    """The scheme of a set of tags; None if they do not encode spans.

    >>> [scheme.name for tags in (["O", "B-PER"], ["O", "S-PER"], ["U-PER", "O", "L-PER"]) if (scheme := detect_scheme(tags))]
    ['BIO', 'IOBES', 'BILOU']
    >>> detect_scheme(["O", "NOUN"]), detect_scheme(["O"]), detect_scheme(["S", "O"])
    (None, None, None)
    """
    names = set(tags)
    return next((scheme for scheme in SCHEMES if scheme.matches(names)), None) if len(names) > 1 else None


@dataclass(frozen=True)
class SpanCounts:
    """The number of correct, predicted and present spans of one type, or of all types."""

    correct: int
    predicted: int
    support: int

    @property
    def precision(self) -> float:
        return self.correct / self.predicted if self.predicted else 0.0

    @property
    def recall(self) -> float:
        return self.correct / self.support if self.support else 0.0

    @property
    def f1(self) -> float:
        return 2 * self.correct / (self.predicted + self.support) if self.predicted + self.support else 0.0


@dataclass(frozen=True)
class SpanScores:
    """Counts over all sentences, by type, and (correct, predicted, present) in each sentence."""

    overall: SpanCounts
    by_type: dict[str, SpanCounts]
    by_sentence: Float[np.ndarray, "sentences 3"]


def compare_spans(
    targets: Iterable[Sequence[str]], predicted: Iterable[Sequence[str]], *, read: SpanReader = extract_spans
) -> SpanScores:
    """The spans of two lists of tagged sentences, compared."""
    correct, num_predicted, support = Counter[str](), Counter[str](), Counter[str]()
    sentences = []
    for target_tags, predicted_tags in zip(targets, predicted, strict=True):
        target_spans, predicted_spans = set(read(target_tags)), set(read(predicted_tags))
        both = target_spans & predicted_spans
        for counts, spans in ((correct, both), (num_predicted, predicted_spans), (support, target_spans)):
            counts.update(span.type for span in spans)
        sentences.append((len(both), len(predicted_spans), len(target_spans)))
    kinds = sorted(num_predicted | support)
    return SpanScores(
        SpanCounts(correct.total(), num_predicted.total(), support.total()),
        {kind: SpanCounts(correct[kind], num_predicted[kind], support[kind]) for kind in kinds},
        np.array(sentences, np.float64).reshape(-1, 3),
    )


def split_tag(tag: str) -> tuple[str, str]:
    """The IOBES prefix of a tag, and the rest.

    >>> split_tag("L-PER"), split_tag("O")
    (('E', 'PER'), ('O', '_'))
    """
    return tag[:1].translate(BILOU_TO_IOBES), tag[2:] or UNNAMED
