"""The data report: what is in the parts of a dataset, and what could spoil an honest score.

Texts are remembered as 8-byte hashes, so a report on many millions of rows fits into memory; `remembered.py`
compares them.
"""

from __future__ import annotations

import unicodedata
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import accumulate
from typing import Any

from seqlab.sources.base import Row, Source
from seqlab.sources.splitting import cell_text
from seqlab.sources.survey.near_duplicates import ALIKE, alike, candidates
from seqlab.sources.survey.passages import WINDOW, Passages, Repeats
from seqlab.sources.survey.row_equality import (
    EXACT,
    NEAR,
    PLAIN,
    Remembered,
    conflicts,
    content_of,
    key_of,
    plain_text_of,
)

NamesOf = Callable[[Row], list[str]]
FINDINGS = 2
"""Raised when the same data is told about in another way, so that no survey that was kept before is taken for
one of now.
"""
SHOWN = 5
FEW_REPEATS = 0.001
"""Share of repeated passages below which nothing is said: stock phrases are in every text."""
NO_LABEL = ("nan", "na", "n/a", "null")
"""How tables write that something is missing."""
QUANTILES = (0.0, 0.1, 0.5, 0.9, 0.99, 1.0)


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
        return sentences + [
            f"labels {a!r} and {b!r} differ only in blanks or case" for a, b in self.similar_labels
        ]


def survey(
    splits: Mapping[str, Source],
    *,
    text: str,
    label: str = "",
    is_stream: bool = False,
    names: NamesOf | None = None,
) -> Survey:
    """Read every part once, the training part first. `text` may also be a column of steps: their number is
    the length.

    The rows of a stream are lines that mean little alone: there, long passages are compared instead. `names`
    tells the labels of a row where a cell may hold several of them.
    """
    memories = {name: Remembered() for name in splits}
    parts = {
        name: _survey_part(
            splits[name], text=text, label=label, memory=memories[name], is_stream=is_stream, names=names
        )
        for name in splits
    }
    by_file = {
        id(splits[name].bad_rows): (part, splits[name].bad_rows) for name, part in reversed(parts.items())
    }
    for part, bad_rows in by_file.values():
        part.skipped, part.first_skipped = bad_rows.count, list(bad_rows.messages)
    for name, part in parts.items():
        part.duplicates = memories[name].close()
        if "train" in parts:
            part.unseen_labels = {
                value: count for value, count in part.labels.items() if value not in parts["train"].labels
            }
    labels = sorted({value for part in parts.values() for value in part.labels})
    report = Survey(parts, _similar(labels))
    if is_stream:
        _compare_streams(report, splits, text)
    else:
        _compare_rows(report, splits, memories, text)
        if label:
            _find_conflicts(report, memories)
    return report


def _survey_part(
    source: Source, *, text: str, label: str, memory: Remembered, is_stream: bool, names: NamesOf | None
) -> PartSurvey:
    part = PartSurvey()
    characters, words, labels = Counter[int](), Counter[int](), Counter[str]()
    for row in source.rows():
        cell = row.values.get(text)
        value: Any = (
            cell if hasattr(cell, "__len__") else ""
        )  # a gap or a number in JSON: refused, or skipped, where rows are used
        num_characters, num_words = (
            (len(value), len(value.split())) if isinstance(value, str) else (len(value), len(value))
        )
        characters[num_characters] += 1
        words[num_words] += 1
        labels_cell = row.values.get(label, "") if label else ""
        cells = (
            [
                cell_text(label_cell)
                for label_cell in (labels_cell if isinstance(labels_cell, list) else [labels_cell])
            ]
            if label
            else []
        )  # for the row, or for every word
        part.stripped_labels += sum(cell != cell.strip() for cell in cells)
        labels.update(names(row) if names is not None and label else [cell.strip() for cell in cells])
        _note_spelling(part, value, row.where)
        if not num_words:
            part.empty += 1
            part.first_empty += [row.where] if part.empty <= SHOWN else []
        elif not is_stream:
            memory.add(
                row,
                key_of(content_of(value)),
                plain_text_of(value),
                label=key_of("\n".join(map(str.strip, cells)).encode("utf-8", "replace")),
            )
    part.rows = characters.total()
    part.characters = sum(length * count for length, count in characters.items())
    part.length_characters, part.length_words = _quantiles(characters), _quantiles(words)
    part.labels = dict(labels.most_common())
    return part


def _note_spelling(part: PartSurvey, value: Any, where: str) -> None:
    """Whether letters and their marks are one character or two."""
    if not isinstance(value, str) or value.isascii():
        return
    if not unicodedata.is_normalized("NFC", value):
        part.decomposed += 1
        part.first_decomposed = part.first_decomposed or where
    elif not unicodedata.is_normalized("NFD", value):
        part.composed += 1


def _compare_rows(
    report: Survey, splits: Mapping[str, Source], memories: Mapping[str, Remembered], text: str
) -> None:
    """Rows of one part that are alike, rows of the others that the training part has too, and rows of the
    test part that validation has.
    """
    pairs = {name: candidates(memory.sketches) for name, memory in memories.items()}
    compared = [(name, "train") for name in memories if name != "train" and "train" in memories]
    compared += [("test", "valid")] if {"test", "valid"} <= memories.keys() else []
    across = {
        (name, other): candidates(memories[other].sketches, memories[name].sketches)
        for name, other in compared
    }
    needed: dict[str, set[int]] = {
        name: {row for pair in row_pairs for row in pair} for name, row_pairs in pairs.items()
    }
    for (name, there), row_pairs in across.items():
        needed[name] |= {row for row, _ in row_pairs}
        needed[there] |= {other for _, other in row_pairs}
    texts = {name: _texts_of(splits[name], text, rows, memories[name]) for name, rows in needed.items()}
    for name, memory in memories.items():
        part = report.parts[name]
        near = [
            match
            for match in alike(pairs[name], texts[name], texts[name])
            if not memory.repeats(match.row, memory, match.other)
        ]
        part.near_duplicates = len(near)
        part.first_near_duplicates = [
            Leak(memory.where(match.row), memory.where(match.other), match.likeness) for match in near[:SHOWN]
        ]
        part.compared = memory.sketches.first_left_out or 0
    for name, there in compared:
        part, memory, other = report.parts[name], memories[name], memories[there]
        kinds = memory.found_in(other)
        for match in alike(across[name, there], texts[name], texts[there]):
            kinds.setdefault(match.row, (NEAR, match.other, match.likeness))
        if there == "valid":
            part.in_valid, part.first_in_valid = _leaks(kinds, (EXACT, PLAIN, NEAR), memory, other)
            continue
        part.leaks, part.first_leaks = _leaks(kinds, (EXACT,), memory, other)
        part.plain_leaks, part.first_plain_leaks = _leaks(kinds, (PLAIN,), memory, other)
        part.near_leaks, part.first_near_leaks = _leaks(kinds, (NEAR,), memory, other)
        report.leaked[name] = {memory.place(row) for row in kinds}


def _leaks(
    kinds: dict[int, tuple[int, int, float]], leak_kinds: Sequence[int], memory: Remembered, there: Remembered
) -> tuple[int, list[Leak]]:
    leaks = sorted((row, other, share) for row, (kind, other, share) in kinds.items() if kind in leak_kinds)
    return len(leaks), [
        Leak(memory.where(row), there.where(other), share) for row, other, share in leaks[:SHOWN]
    ]


def _texts_of(source: Source, text: str, numbers: set[int], memory: Remembered) -> dict[int, bytes]:
    """The texts of some remembered rows, read again."""
    if not numbers:
        return {}
    rows = {memory.place(number): number for number in numbers}
    return {
        rows[place]: plain_text_of(row.values[text])
        for row in source.rows()
        if (place := (row.file, row.line)) in rows
    }


def _find_conflicts(report: Survey, memories: Mapping[str, Remembered]) -> None:
    """Rows whose text stands with another label elsewhere."""
    names = list(memories)
    for name, conflicting in zip(names, conflicts([memories[name] for name in names]), strict=True):
        part = report.parts[name]
        part.conflicts = len(conflicting)
        part.first_conflicts = [
            Leak(memories[name].where(row), memories[names[other]].where(there))
            for row, other, there in conflicting[:SHOWN]
        ]


def _compare_streams(report: Survey, splits: Mapping[str, Source], text: str) -> None:
    if "train" not in splits or len(splits) == 1:
        return
    passages = Passages(splits["train"], column=text)
    for name, part in report.parts.items():
        if name != "train":
            part.repeats = passages.repeats_in(splits[name])
    if {"test", "valid"} <= splits.keys():
        part, repeats = (
            report.parts["test"],
            Passages(splits["valid"], column=text).repeats_in(splits["test"]),
        )
        part.share_in_valid, part.first_in_valid = (
            repeats.share,
            [Leak(repeats.first, repeats.also)] if repeats.share else [],
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


def _quantiles(counts: Counter[int]) -> Quantiles | None:
    """Exact quantiles out of how often each length occurs."""
    total = counts.total()
    if not total:
        return None
    lengths = sorted(counts)
    upto = list(accumulate(counts[length] for length in lengths))
    smallest, tenth, median, ninetieth, ninety_ninth, largest = (
        lengths[bisect_right(upto, round(share * (total - 1)))] for share in QUANTILES
    )
    mean = sum(length * count for length, count in counts.items()) / total
    return Quantiles(smallest, tenth, median, ninetieth, ninety_ninth, largest, mean)


def _similar(labels: Sequence[str]) -> list[tuple[str, str]]:
    first: dict[str, str] = {}
    pairs = []
    for value in labels:
        plain = " ".join(value.split()).casefold()
        if plain in first:
            pairs.append((first[plain], value))
        first.setdefault(plain, value)
    return pairs


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
