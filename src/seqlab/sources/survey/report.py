"""What a survey of the data has found: as plain data, and as sentences for the user."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass, field
from typing import Any

from seqlab.sources.survey.near_duplicates import ALIKE
from seqlab.sources.survey.passages import WINDOW, Repeats

SHOWN = 5
"""Examples of each finding."""
NO_LABEL = ("nan", "na", "n/a", "null")
"""How tables write that something is missing."""
FEW_REPEATS = 0.001
"""Share of repeated passages below which nothing is said: stock phrases are in every text."""


@dataclass(frozen=True)
class Quantiles:
    """How a count is spread over the rows: the smallest, 10 %, the median, 90 %, 99 %, the largest, and the
    mean.
    """

    smallest: int
    tenth: int
    median: int
    ninetieth: int
    ninety_ninth: int
    largest: int
    mean: float


@dataclass(frozen=True)
class Leak:
    """One row that also stands in the training part, or elsewhere; `likeness` is 1 where both are equal."""

    where: str
    also: str
    likeness: float = 1.0


@dataclass
class PartSurvey:
    """One part of the data."""

    rows: int = 0
    characters: int = 0
    length_characters: Quantiles | None = None
    length_words: Quantiles | None = None
    labels: dict[str, int] = field(default_factory=dict)
    empty: int = 0
    first_empty: list[str] = field(default_factory=list)
    duplicates: int = 0
    near_duplicates: int = 0
    first_near_duplicates: list[Leak] = field(default_factory=list)
    leaks: int = 0
    first_leaks: list[Leak] = field(default_factory=list)
    plain_leaks: int = 0
    first_plain_leaks: list[Leak] = field(default_factory=list)
    near_leaks: int = 0
    first_near_leaks: list[Leak] = field(default_factory=list)
    compared: int = 0
    """Rows in which nearly equal texts were looked for, where not all."""
    conflicts: int = 0
    first_conflicts: list[Leak] = field(default_factory=list)
    repeats: Repeats | None = None
    unseen_labels: dict[str, int] = field(default_factory=dict)
    stripped_labels: int = 0
    """Labels with blanks around them, which are removed."""
    composed: int = 0
    """Texts with letters and their marks in one character (NFC), and below those in which a mark is a
    character of its own (NFD).
    """
    decomposed: int = 0
    first_decomposed: str = ""
    skipped: int = 0
    """Rows of its file that could not be read; parts of one file share them, and the first of these parts
    tells.
    """
    first_skipped: list[str] = field(default_factory=list)
    in_valid: int = 0
    """Rows of a test part that the validation part has too, exactly or nearly; of a stream the share of its
    passages.
    """
    share_in_valid: float = 0.0
    first_in_valid: list[Leak] = field(default_factory=list)

    @property
    def balance(self) -> float:
        """The share of the most frequent label: what always answering it would score."""
        return max(self.labels.values()) / sum(self.labels.values()) if self.labels else 0.0


@dataclass
class Survey:
    """All parts, and what is odd across them."""

    parts: dict[str, PartSurvey]
    similar_labels: list[tuple[str, str]]
    leaked: dict[str, set[tuple[str, int]]] = field(default_factory=dict)
    """By part, the files and lines of rows that training has too, exactly or nearly."""

    def as_json(self) -> dict[str, Any]:
        """Every part as plain data."""
        return {name: _plain(part) for name, part in self.parts.items()}

    @property
    def two_ways(self) -> str:
        """A sentence where the same letters are written in two ways; empty otherwise."""
        composed, decomposed = (
            sum(part.composed for part in self.parts.values()),
            sum(part.decomposed for part in self.parts.values()),
        )
        if not (composed and decomposed):
            return ""
        first = next(part.first_decomposed for part in self.parts.values() if part.first_decomposed)
        return (
            f"letters with marks are written in two ways: as one character in {composed:,} texts (NFC), as"
            f" two in {decomposed:,} (NFD, the first at {first}), so that one word may count as two; write"
            " all texts in one form: unicodedata.normalize('NFC', text)"
        )

    @property
    def warnings(self) -> list[str]:
        """One sentence for everything that deserves a look."""
        sentences = [sentence for name, part in self.parts.items() for sentence in _warnings(name, part)]
        sentences += [self.two_ways] if self.two_ways else []
        return sentences + ([self.label_variants] if self.similar_labels else [])

    @property
    def label_variants(self) -> str:
        """A sentence about labels that differ only in case or spaces; empty where none do."""
        groups: dict[str, list[str]] = {}
        for first, other in self.similar_labels:
            groups.setdefault(first, [first]).append(other)
        if not groups:
            return ""
        counts = Counter[str]()
        for part in self.parts.values():
            counts.update(part.labels)
        variants = [
            ", ".join(
                f"{label!r} ({counts[label]:,})" for label in sorted(group, key=lambda label: -counts[label])
            )
            for group in groups.values()
        ]
        more = f" and {len(variants) - SHOWN} more" if len(variants) > SHOWN else ""
        return (
            f"labels differ only in case or spaces: {'; '.join(variants[:SHOWN])}{more}. Each is a class of its own;"
            " if they mean the same, write them alike in the file"
        )


def _plain(part: PartSurvey) -> dict[str, Any]:
    """Without the places of every repeat, which are for those who score."""
    values = {name: value for name, value in vars(part).items() if name != "repeats"}
    repeats = part.repeats
    plain_repeats = (
        None
        if repeats is None
        else {name: getattr(repeats, name) for name in ("share", "windows", "kept", "first", "also")}
    )
    return {**asdict(PartSurvey(**values)), "repeats": plain_repeats}


def _warnings(name: str, part: PartSurvey) -> list[str]:
    sentences = []
    if part.empty:
        sentences.append(
            f"{name}: {part.empty:,} empty text{_s(part.empty)}, the first at {part.first_empty[0]}"
        )
    if part.duplicates:
        sentences.append(f"{name}: {_texts(part.duplicates, 'repeats', 'repeat')} an earlier one")
    if part.near_duplicates:
        sentences.append(
            f"{name}: {_texts(part.near_duplicates, 'is', 'are')} nearly an earlier one,"
            f" {_first(part.first_near_duplicates)}"
        )
    if part.leaks:
        sentences.append(
            f"{name}: {_texts(part.leaks, 'also stands', 'also stand')} in train,"
            f" {_first(part.first_leaks, 'train: ')}"
        )
    if part.plain_leaks:
        what = (
            f"{_texts(part.plain_leaks, 'stands', 'stand')} in train but for capitals, punctuation and blanks"
        )
        sentences.append(f"{name}: {what}, {_first(part.first_plain_leaks, 'train: ')}")
    if part.near_leaks:
        what = f"{_texts(part.near_leaks, 'is', 'are')} nearly in train (at least {ALIKE:.0%} of the pieces)"
        sentences.append(f"{name}: {what}, {_first(part.first_near_leaks, 'train: ')}")
    if part.in_valid:
        what = f"{_texts(part.in_valid, 'also stands', 'also stand')} in valid, exactly or nearly"
        sentences.append(f"{name}: {what}, {_first(part.first_in_valid, 'valid: ')}")
    if part.share_in_valid > FEW_REPEATS:
        sentence = f"{part.share_in_valid:.1%} of the passages of {WINDOW} characters also stand in valid"
        sentences.append(f"{name}: {sentence}, {_first(part.first_in_valid, 'valid: ')}")
    if part.compared:
        sentences.append(
            f"{name}: nearly equal texts were looked for in the first {part.compared:,} rows only"
        )
    if part.conflicts:
        sentences.append(
            f"{name}: {_texts(part.conflicts, 'stands', 'stand')} with another label elsewhere,"
            f" {_first(part.first_conflicts)}"
        )
    if part.repeats is not None and part.repeats.share > FEW_REPEATS:
        sentence = f"{part.repeats.share:.1%} of the passages of {WINDOW} characters also stand in train"
        sentences.append(
            f"{name}: {sentence}, the first at {part.repeats.first} (train: {part.repeats.also})"
        )
    if part.unseen_labels:
        sentences.append(
            f"{name}: labels that train never has: {', '.join(map(repr, list(part.unseen_labels)[:SHOWN]))}"
        )
    if part.stripped_labels:
        sentences.append(
            f"{name}: blanks around {part.stripped_labels:,} label{_s(part.stripped_labels)} are removed"
        )
    if gaps := {value: count for value, count in part.labels.items() if value.lower() in NO_LABEL}:
        gap_counts = ", ".join(f"{value!r} ({count:,})" for value, count in gaps.items())
        sentences.append(
            f"{name}: labels that may mean a gap: {gap_counts}; a class like any other unless the rows are removed"
        )
    if part.skipped:
        sentences.append(
            f"{part.skipped:,} row{_s(part.skipped)} skipped, the first: {part.first_skipped[0]}"
        )  # of the file that it names
    return sentences


def _texts(count: int, singular: str, plural: str) -> str:
    """`1 text repeats`, `9 texts repeat`."""
    return f"{count:,} text{_s(count)} {singular if count == 1 else plural}"


def _s(count: int) -> str:
    return "" if count == 1 else "s"


def _first(leaks: list[Leak], part: str = "") -> str:
    leak = leaks[0]
    likeness = "" if leak.likeness == 1 else f", {leak.likeness:.0%} alike"
    return f"the first at {leak.where} ({part}{leak.also}{likeness})"
