"""Spans of words that tags mark (names, phrases), in the ways of marking that are in use.

    BIO     B-X begins a span of type X, I-X goes on with it, O stands outside
    IOBES   the same, and E-X ends a span of several words, S-X is one of a single word
    BILOU   the same as IOBES with other letters: L-X ends, U-X stands alone

    precision = right / predicted,   recall = right / present,   F1 = 2 right / (predicted + present)

A span is right when its type and both ends are. Two ways to read tags that break the rules:

    lenient   I-X after O, or after another type, begins a span, and one without an E-X ends where it stops: so does the script of the CoNLL
              shared tasks, and seqeval by default
    strict    only B-X (or S-X) begins a span, any other I-X belongs to none, and where there is an E it must stand at the end (seqeval with
              mode='strict' and IOB2, IOBES or BILOU)

Papers: Ramshaw & Marcus 1995, "Text Chunking using Transformation-Based Learning", arXiv:cmp-lg/9505040, section 4.1; marked ends: Ratinov & Roth
2009, "Design Challenges and Misconceptions in Named Entity Recognition", section 3.2; scores: Tjong Kim Sang & Buchholz 2000, "Introduction to the
CoNLL-2000 Shared Task: Chunking".
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
"""The type of spans whose tags are letters alone."""
SAME = str.maketrans("LU", "ES")
"""The letters of BILOU as those of IOBES."""


class Span(NamedTuple):
    """Words `first` to `last`, counted from 0, of one type."""

    type: str
    first: int
    last: int


Reading = Callable[[Sequence[str]], list[Span]]


def spans_of(tags: Sequence[str]) -> list[Span]:
    """Lenient, for every scheme.

    >>> spans_of(["I-PER", "I-PER", "O", "B-LOC", "I-PER"])
    [Span(type='PER', first=0, last=1), Span(type='LOC', first=3, last=3), Span(type='PER', first=4, last=4)]
    """
    found: list[Span] = []
    is_open = False
    for place, tag in enumerate(tags):
        mark, kind = mark_and_type(tag)
        if is_open and mark in "IE" and found[-1].type == kind:
            found[-1] = found[-1]._replace(last=place)
        elif mark != "O":
            found.append(Span(kind, place, place))
        is_open = mark in "BI"
    return found


def strict_spans_of(tags: Sequence[str]) -> list[Span]:
    """Strict, where nothing marks the end.

    >>> strict_spans_of(["I-PER", "O", "B-LOC", "I-LOC", "I-PER"])
    [Span(type='LOC', first=2, last=3)]
    """
    found: list[Span] = []
    for place, tag in enumerate(tags):
        mark, kind = mark_and_type(tag)
        if mark == "B":
            found.append(Span(kind, place, place))
        elif mark == "I" and found and found[-1].last == place - 1 and found[-1].type == kind:
            found[-1] = found[-1]._replace(last=place)
    return found


def strict_ended_spans_of(tags: Sequence[str]) -> list[Span]:
    """Strict, where the end is marked.

    >>> strict_ended_spans_of(["B-PER", "I-PER", "O", "B-LOC", "E-LOC", "S-PER", "E-PER"])
    [Span(type='LOC', first=3, last=4), Span(type='PER', first=5, last=5)]
    """
    found: list[Span] = []
    running: Span | None = None
    for place, tag in enumerate(tags):
        mark, kind = mark_and_type(tag)
        if mark in "IE" and running is not None and running.type == kind:
            running = running._replace(last=place)
        else:
            running = Span(kind, place, place) if mark in "BS" else None
        if running is not None and mark in "ES":
            found.append(running)
            running = None
    return found


@dataclass(frozen=True)
class Scheme:
    """A way of marking spans, beside B and I.

    end: the letter that ends a span; single: the one for a span of one word; both empty in BIO.
    strict: how tags are read that must keep the rules.
    """

    name: str
    end: str
    single: str
    strict: Reading

    def fits(self, names: Set[str]) -> bool:
        """Whether all tags are of this scheme, and some of those that set it apart: without types, both ends; letters alone may mean anything."""
        if not all(re.fullmatch(rf"O|[BI{self.end}{self.single}](-.+)?", name) for name in names):
            return False
        marks = {name[:1] for name in names}
        return not self.end or {"B", self.end} <= marks or any(name.startswith(f"{self.single}-") for name in names)


BIO = Scheme("BIO", end="", single="", strict=strict_spans_of)
SCHEMES = (
    BIO,
    Scheme("IOBES", end="E", single="S", strict=strict_ended_spans_of),
    Scheme("BILOU", end="L", single="U", strict=strict_ended_spans_of),
)


def scheme_of(tags: Iterable[str]) -> Scheme | None:
    """The scheme that a set of tags follows; None where they mark no spans.

    >>> [found.name for tags in (["O", "B-PER"], ["O", "S-PER"], ["U-PER", "O", "L-PER"]) if (found := scheme_of(tags))]
    ['BIO', 'IOBES', 'BILOU']
    >>> scheme_of(["O", "NOUN"]), scheme_of(["O"]), scheme_of(["S", "O"])
    (None, None, None)
    """
    names = set(tags)
    return next((scheme for scheme in SCHEMES if scheme.fits(names)), None) if len(names) > 1 else None


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


def mark_and_type(tag: str) -> tuple[str, str]:
    """The letter, in IOBES, and what follows it.

    >>> mark_and_type("L-PER"), mark_and_type("O")
    (('E', 'PER'), ('O', '_'))
    """
    return tag[:1].translate(SAME), tag[2:] or UNNAMED
