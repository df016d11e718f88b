"""Spans of words that tags mark (names, phrases): B-X begins one of type X, I-X goes on with it, O stands outside.

    precision = right / predicted,   recall = right / present,   F1 = 2 right / (predicted + present)

A span is right when its type and both ends are. Two ways to read tags that break the rules:

    lenient   I-X after O, or after another type, begins a span: so does the script of the CoNLL shared tasks, and seqeval by default
    strict    only B-X begins a span; any other I-X belongs to none (seqeval with mode='strict' and IOB2)

Paper: Ramshaw & Marcus 1995, "Text Chunking using Transformation-Based Learning", arXiv:cmp-lg/9505040, section 4.1; scores: Tjong Kim Sang &
Buchholz 2000, "Introduction to the CoNLL-2000 Shared Task: Chunking".
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

PATTERN = re.compile(r"O|[BI](-.+)?")
UNNAMED = "_"
"""The type of spans whose tags are B and I alone."""


class Span(NamedTuple):
    """Words `first` to `last`, counted from 0, of one type."""

    type: str
    first: int
    last: int


Reading = Callable[[Sequence[str]], list[Span]]


def marks_spans(tags: Iterable[str]) -> bool:
    """Whether a set of tags is one of B, I and O.

    >>> marks_spans(["O", "B-PER", "I-PER"]), marks_spans(["O", "NOUN"]), marks_spans(["O"])
    (True, False, False)
    """
    names = set(tags)
    return len(names) > 1 and all(PATTERN.fullmatch(name) for name in names)


def spans_of(tags: Sequence[str]) -> list[Span]:
    """Lenient.

    >>> spans_of(["I-PER", "I-PER", "O", "B-LOC", "I-PER"])
    [Span(type='PER', first=0, last=1), Span(type='LOC', first=3, last=3), Span(type='PER', first=4, last=4)]
    """
    found: list[Span] = []
    for place, tag in enumerate(tags):
        mark, kind = _parts(tag)
        if mark == "O":
            continue
        if mark == "I" and found and found[-1].last == place - 1 and found[-1].type == kind:
            found[-1] = found[-1]._replace(last=place)
        else:
            found.append(Span(kind, place, place))
    return found


def strict_spans_of(tags: Sequence[str]) -> list[Span]:
    """Strict.

    >>> strict_spans_of(["I-PER", "O", "B-LOC", "I-LOC", "I-PER"])
    [Span(type='LOC', first=2, last=3)]
    """
    found: list[Span] = []
    for place, tag in enumerate(tags):
        mark, kind = _parts(tag)
        if mark == "B":
            found.append(Span(kind, place, place))
        elif mark == "I" and found and found[-1].last == place - 1 and found[-1].type == kind:
            found[-1] = found[-1]._replace(last=place)
    return found


@dataclass(frozen=True)
class SpanCounts:
    """How many spans of one type, or of all, were right, predicted and present."""

    right: int
    predicted: int
    present: int

    @property
    def precision(self) -> float:
        return self.right / self.predicted if self.predicted else 0.0

    @property
    def recall(self) -> float:
        return self.right / self.present if self.present else 0.0

    @property
    def f1(self) -> float:
        return 2 * self.right / (self.predicted + self.present) if self.predicted + self.present else 0.0


@dataclass(frozen=True)
class SpanScores:
    """Counts over all sentences, for each type, and (right, predicted, present) in each sentence."""

    overall: SpanCounts
    by_type: dict[str, SpanCounts]
    by_sentence: Float[np.ndarray, "sentences 3"]


def compare_spans(truth: Iterable[Sequence[str]], predicted: Iterable[Sequence[str]], *, read: Reading = spans_of) -> SpanScores:
    """The spans of two lists of tagged sentences, side by side."""
    right, found, present = Counter[str](), Counter[str](), Counter[str]()
    sentences = []
    for wanted_tags, given_tags in zip(truth, predicted, strict=True):
        wanted, given = set(read(wanted_tags)), set(read(given_tags))
        both = wanted & given
        for counts, spans in ((right, both), (found, given), (present, wanted)):
            counts.update(span.type for span in spans)
        sentences.append((len(both), len(given), len(wanted)))
    kinds = sorted(found | present)
    return SpanScores(
        SpanCounts(right.total(), found.total(), present.total()),
        {kind: SpanCounts(right[kind], found[kind], present[kind]) for kind in kinds},
        np.array(sentences, np.float64).reshape(-1, 3),
    )


def _parts(tag: str) -> tuple[str, str]:
    return tag[:1], tag[2:] or UNNAMED
