"""The findings of a data survey: as plain data, and as sentences for the user."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from typing import Any

from seqlab.core.errors import shortened
from seqlab.sources.bad_rows import describe_skipped
from seqlab.sources.survey.near_duplicates import ALIKE
from seqlab.sources.survey.passages import WINDOW, Repeats
from seqlab.sources.survey.series_survey import SeriesSurvey

SHOWN = 5
"""Number of examples shown for each finding."""
NO_LABEL = ("nan", "na", "n/a", "null")
"""How tables mark missing values."""
FEW_REPEATS = 0.001
"""Fraction of repeated passages below which nothing is reported: every text has stock phrases."""


@dataclass(frozen=True)
class Quantiles:
    """How a count is spread over the rows: the smallest, 10%, the median, 90%, 99%, the largest, and the
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
    """One row that also occurs in the training split, or elsewhere; `likeness` is 1 where both are equal."""

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
    noun: str = "text"
    """What a row holds: a text, or a sequence of numbers."""
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
    """Number of rows searched for near-duplicates, if not all."""
    conflicts: int = 0
    first_conflicts: list[Leak] = field(default_factory=list)
    repeats: Repeats | None = None
    unseen_labels: dict[str, int] = field(default_factory=dict)
    missing_labels: dict[str, int] = field(default_factory=dict)
    """Labels of the training split that do not occur in this one, with their counts there."""
    stripped_labels: int = 0
    """Labels with whitespace around them, which is removed."""
    composed: int = 0
    """Number of texts with composed characters (NFC) and, below, with decomposed ones, in which an accent is a
    separate character (NFD).
    """
    decomposed: int = 0
    first_decomposed: str = ""
    skipped: int = 0
    """Unreadable rows of its file; splits of one file share them, and only the first split
    reports them.
    """
    first_skipped: list[str] = field(default_factory=list)
    skipped_of: int = 0
    """Number of rows in its file, including skipped ones."""
    in_valid: int = 0
    """Rows of the test split that also occur in the validation split, exactly or nearly; for a stream, the fraction of its
    passages.
    """
    share_in_valid: float = 0.0
    first_in_valid: list[Leak] = field(default_factory=list)
    series: SeriesSurvey | None = None
    """What is known of series to forecast; nothing else is then counted but rows."""

    @property
    def balance(self) -> float:
        """The fraction of the most frequent label: the accuracy of always predicting it."""
        return max(self.labels.values()) / sum(self.labels.values()) if self.labels else 0.0


@dataclass
class Survey:
    """All splits, and anomalies across them."""

    parts: dict[str, PartSurvey]
    similar_labels: list[tuple[str, str]]
    leaked: dict[str, set[tuple[str, int]]] = field(default_factory=dict)
    """By split, the files and lines of rows that also occur in training, exactly or nearly."""

    def as_json(self) -> dict[str, Any]:
        """Every part as plain data."""
        return {name: _plain(part) for name, part in self.parts.items()}

    @property
    def mixed_normalization(self) -> str:
        """A sentence about characters that are encoded in two ways; empty if none are."""
        composed, decomposed = (
            sum(part.composed for part in self.parts.values()),
            sum(part.decomposed for part in self.parts.values()),
        )
        if not (composed and decomposed):
            return ""
        first = next(part.first_decomposed for part in self.parts.values() if part.first_decomposed)
        return (
            f"accented letters are encoded in two ways: as one character in {composed:,} texts (NFC)"
            f" and as two in {decomposed:,} (NFD, the first at {first}), so the same word may count as"
            " two; normalize all texts to one form: unicodedata.normalize('NFC', text)"
        )

    @property
    def warnings(self) -> list[str]:
        """One sentence for every finding."""
        sentences = [sentence for name, part in self.parts.items() for sentence in _warnings(name, part)]
        sentences += [self.mixed_normalization] if self.mixed_normalization else []
        return sentences + ([self.label_variants] if self.similar_labels else [])

    @property
    def label_variants(self) -> str:
        """A sentence about labels that differ only in case or whitespace; empty if none do."""
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
            f"labels differ only in case or whitespace: {'; '.join(variants[:SHOWN])}{more}. Each is a"
            " separate class; if they mean the same, use one spelling in the file"
        )


def _plain(part: PartSurvey) -> dict[str, Any]:
    """Without the positions of every repeat, which only scoring needs."""
    values = {name: value for name, value in vars(part).items() if name != "repeats"}
    repeats = part.repeats
    plain_repeats = (
        None
        if repeats is None
        else {name: getattr(repeats, name) for name in ("share", "windows", "kept", "first", "also")}
    )
    return {**asdict(PartSurvey(**values)), "repeats": plain_repeats}


def _warnings(name: str, part: PartSurvey) -> list[str]:
    findings = [*_about_texts(part), *_about_other_splits(part)]
    if part.compared:
        findings.append(f"searched only the first {part.compared:,} rows for near-duplicates")
    if part.conflicts:
        what = f"{_rows(part, part.conflicts, 'occurs', 'occur')} elsewhere with a different label"
        findings.append(f"{what}, {_first(part.first_conflicts)}")
    if part.repeats is not None and part.repeats.share > FEW_REPEATS:
        what = f"{part.repeats.share:.1%} of the {WINDOW}-character passages also occur in train"
        findings.append(f"{what}, the first at {part.repeats.first} (train: {part.repeats.also})")
    about_series = part.series.warnings() if part.series else ()
    sentences = [f"{name}: {finding}" for finding in [*findings, *_about_labels(part), *about_series]]
    skipped = describe_skipped(part.skipped, part.first_skipped, num_rows=part.skipped_of)
    return [*sentences, skipped] if skipped else sentences  # the last one names the file


def _about_texts(part: PartSurvey) -> Iterator[str]:
    if part.empty:
        yield f"{part.empty:,} empty {part.noun}{_s(part.empty)}, the first at {part.first_empty[0]}"
    if part.duplicates:
        yield f"{_rows(part, part.duplicates, 'repeats', 'repeat')} an earlier one"
    if part.near_duplicates:
        what = f"{_rows(part, part.near_duplicates, 'is', 'are')} nearly identical to an earlier one"
        yield f"{what}, {_first(part.first_near_duplicates)}"


def _about_other_splits(part: PartSurvey) -> Iterator[str]:
    """What also occurs in train or, for test data, in valid."""
    occur = "also occurs", "also occur"
    if part.leaks:
        yield f"{_rows(part, part.leaks, *occur)} in train, {_first(part.first_leaks, 'train: ')}"
    if part.plain_leaks:
        what = f"{_rows(part, part.plain_leaks, *occur)} in train, ignoring case, punctuation and whitespace"
        yield f"{what}, {_first(part.first_plain_leaks, 'train: ')}"
    if part.near_leaks:
        what = f"{_rows(part, part.near_leaks, 'has a near-duplicate', 'have near-duplicates')} in train"
        yield f"{what} (at least {ALIKE:.0%} overlap), {_first(part.first_near_leaks, 'train: ')}"
    if part.in_valid:
        what = f"{_rows(part, part.in_valid, *occur)} in valid, exactly or nearly"
        yield f"{what}, {_first(part.first_in_valid, 'valid: ')}"
    if part.share_in_valid > FEW_REPEATS:
        what = f"{part.share_in_valid:.1%} of the {WINDOW}-character passages also occur in valid"
        yield f"{what}, {_first(part.first_in_valid, 'valid: ')}"


def _about_labels(part: PartSurvey) -> Iterator[str]:
    if part.missing_labels and len(part.labels) == 1:
        yield only_label(next(iter(part.labels)))
    elif part.missing_labels:
        total = len(part.labels) - len(part.unseen_labels) + len(part.missing_labels)
        yield (
            f"{len(part.missing_labels):,} of the {total:,} labels in train {_do(part.missing_labels)} not"
            f" occur here, so no score covers them: {_counted(part.missing_labels)}"
        )
    if part.unseen_labels:
        yield f"labels never seen in training: {_counted(part.unseen_labels)}"
    if part.stripped_labels:
        yield f"removed whitespace around {part.stripped_labels:,} label{_s(part.stripped_labels)}"
    if gaps := {value: count for value, count in part.labels.items() if value.lower() in NO_LABEL}:
        gap_counts = ", ".join(f"{value!r} ({count:,})" for value, count in gaps.items())
        yield (
            f"labels that may mark missing values: {gap_counts}; each counts as a class unless you remove"
            " the rows"
        )


def only_label(label: str) -> str:
    """What a split with a single label cannot tell."""
    return (
        f"{shortened(label)!r} is the only label here, so accuracy, F1 and AUC cannot say whether the model tells"
        " labels apart; use data with at least two labels"
    )


def _rows(part: PartSurvey, count: int, singular: str, plural: str) -> str:
    """`1 text repeats`, `9 sequences repeat`."""
    return f"{count:,} {part.noun}{_s(count)} {singular if count == 1 else plural}"


def _counted(labels: dict[str, int]) -> str:
    """The first labels with their counts.

    >>> _counted({"spam": 12, "ham": 3})
    "'spam' (12), 'ham' (3)"
    """
    named = [f"{shortened(label)!r} ({count:,})" for label, count in list(labels.items())[:SHOWN]]
    more = f" and {len(labels) - SHOWN:,} more" if len(labels) > SHOWN else ""
    return ", ".join(named) + more


def _do(labels: dict[str, int]) -> str:
    return "does" if len(labels) == 1 else "do"


def _s(count: int) -> str:
    return "" if count == 1 else "s"


def _first(leaks: list[Leak], part: str = "") -> str:
    leak = leaks[0]
    likeness = "" if leak.likeness == 1 else f", {leak.likeness:.0%} similar"
    return f"the first at {leak.where} ({part}{leak.also}{likeness})"
