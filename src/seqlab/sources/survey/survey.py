"""The survey of a dataset: what its splits contain, and what could invalidate a score.

Texts are stored as 8-byte hashes, so a survey of many millions of rows fits into memory; `row_equality.py`
compares them.
"""

from __future__ import annotations

import unicodedata
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import accumulate
from typing import Any

from seqlab.sources.base import Row, Source
from seqlab.sources.splitting import cell_text
from seqlab.sources.survey.near_duplicates import alike, candidates
from seqlab.sources.survey.passages import Passages
from seqlab.sources.survey.report import SHOWN, Leak, PartSurvey, Quantiles, Survey
from seqlab.sources.survey.row_equality import (
    EXACT,
    NEAR,
    PLAIN,
    RowHashes,
    conflicts,
    content_of,
    key_of,
    plain_text_of,
)
from seqlab.sources.survey.series_survey import survey_series
from seqlab.sources.views.time_series import TimeSeriesSource

NamesOf = Callable[[Row], list[str]]
FINDINGS = 5
"""Increased when the report on the same data changes, so that a cached survey of an older version is not
reused.
"""
QUANTILES = (0.0, 0.1, 0.5, 0.9, 0.99, 1.0)


def survey(
    splits: Mapping[str, Source],
    *,
    text: str,
    label: str = "",
    is_stream: bool = False,
    names: NamesOf | None = None,
) -> Survey:
    """Read every split once, the training split first. `text` may also be a column of steps: their number is
    the length.

    The rows of a stream are lines that mean little alone, so long passages are compared instead. `names`
    returns the labels of a row if a cell may contain several.
    """
    if series := {name: part for name, part in splits.items() if isinstance(part, TimeSeriesSource)}:
        return _survey_series(series)
    memories = {name: RowHashes() for name in splits}
    parts = {
        name: _survey_part(
            splits[name], text=text, label=label, memory=memories[name], is_stream=is_stream, names=names
        )
        for name in splits
    }
    _note_skipped(splits, parts)
    for name, part in parts.items():
        part.duplicates = memories[name].close()
        if "train" in parts:
            known = parts["train"].labels
            part.unseen_labels = {value: count for value, count in part.labels.items() if value not in known}
            part.missing_labels = {value: count for value, count in known.items() if value not in part.labels}
    labels = sorted({value for part in parts.values() for value in part.labels})
    report = Survey(parts, _similar(labels))
    if is_stream:
        _compare_streams(report, splits, text)
    else:
        _compare_rows(report, splits, memories, text)
        if label:
            _find_conflicts(report, memories)
    return report


def _survey_series(splits: Mapping[str, TimeSeriesSource]) -> Survey:
    found = {name: survey_series(source) for name, source in splits.items()}
    parts = {name: PartSurvey(rows=series.num_series, series=series) for name, series in found.items()}
    _note_skipped(splits, parts)
    return Survey(parts, [])


def _note_skipped(splits: Mapping[str, Source], parts: dict[str, PartSurvey]) -> None:
    """Count the unreadable rows of each file once, in its first split."""
    by_file = {
        id(splits[name].bad_rows): (part, splits[name].bad_rows) for name, part in reversed(parts.items())
    }
    for part, bad_rows in by_file.values():
        part.skipped, part.first_skipped = bad_rows.count, list(bad_rows.messages)
        part.skipped_of = bad_rows.num_rows


def _survey_part(
    source: Source, *, text: str, label: str, memory: RowHashes, is_stream: bool, names: NamesOf | None
) -> PartSurvey:
    part = PartSurvey()
    characters, words, labels = Counter[int](), Counter[int](), Counter[str]()
    for row in source.rows():
        value = _value_of(row, text)
        if not isinstance(next(iter(value), ""), str):  # neither a text nor a list of words
            part.noun = "sequence"
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


def _value_of(row: Row, text: str) -> Any:
    """A text, words or steps; empty for a missing cell or a number in JSON, which are rejected where rows are used."""
    cell = row.values.get(text)
    return cell if hasattr(cell, "__len__") else ""


def _note_spelling(part: PartSurvey, value: Any, where: str) -> None:
    """Record whether accented letters are one character or two."""
    if not isinstance(value, str) or value.isascii():
        return
    if not unicodedata.is_normalized("NFC", value):
        part.decomposed += 1
        part.first_decomposed = part.first_decomposed or where
    elif not unicodedata.is_normalized("NFD", value):
        part.composed += 1


def _compare_rows(
    report: Survey, splits: Mapping[str, Source], memories: Mapping[str, RowHashes], text: str
) -> None:
    """Duplicates within a split, rows of other splits that also occur in training, and rows of the
    test split that also occur in validation.
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
    texts = {name: _texts_of(splits[name], text, rows) for name, rows in needed.items()}
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
    kinds: dict[int, tuple[int, int, float]], leak_kinds: Sequence[int], memory: RowHashes, there: RowHashes
) -> tuple[int, list[Leak]]:
    leaks = sorted((row, other, share) for row, (kind, other, share) in kinds.items() if kind in leak_kinds)
    return len(leaks), [
        Leak(memory.where(row), there.where(other), share) for row, other, share in leaks[:SHOWN]
    ]


def _texts_of(source: Source, text: str, numbers: set[int]) -> dict[int, bytes]:
    """The texts of the given rows, read again and counted as in `RowHashes`, which has no empty ones."""
    if not numbers:
        return {}
    values = (_value_of(row, text) for row in source.rows())
    filled = (value for value in values if (value.strip() if isinstance(value, str) else len(value)))
    return {number: plain_text_of(value) for number, value in enumerate(filled) if number in numbers}


def _find_conflicts(report: Survey, memories: Mapping[str, RowHashes]) -> None:
    """Rows whose text has a different label elsewhere."""
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


def _quantiles(counts: Counter[int]) -> Quantiles | None:
    """Exact quantiles from the counts of each length."""
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
