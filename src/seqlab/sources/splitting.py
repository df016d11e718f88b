"""Holds out validation and test splits from one source.

    content   rows ordered by a hash of their content: equal rows share a hash, so they never end up on both
        sides
    random    rows ordered by a shuffle: exact counts
    tail      rows in file order: the end of the file is the future

The test split is always taken first, so that it does not depend on the validation fraction.
"""

from __future__ import annotations

import hashlib
import random
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from seqlab.core.errors import DataError, listed, shortened
from seqlab.core.seeds import derive
from seqlab.sources.base import Row, Source, TextSource
from seqlab.sources.settings import Split
from seqlab.sources.views.filtered import MarkedLines, MarkedRows, TextPart

TRAIN, VALID, TEST = 0, 1, 2
LINE_END_WITHIN = 10_000


@dataclass(frozen=True)
class Splits:
    """Three disjoint parts of one source; a part with share 0 is None."""

    train: Source
    valid: Source | None
    test: Source | None
    train_only_labels: tuple[str, ...] = ()
    """Labels that occur only in train, because they have too few rows to hold out."""

    def named(self) -> dict[str, Source]:
        parts = {"train": self.train, "valid": self.valid, "test": self.test}
        return {name: part for name, part in parts.items() if part is not None}


def hold_out(
    source: Source,
    *,
    how: Split,
    valid_share: float,
    test_share: float,
    seed: int,
    key_columns: Sequence[str] = (),
    labels: Callable[[Row], Iterable[str]] | None = None,
) -> Splits:
    """Split a source into train, valid and test. `key_columns` is what counts as content; all columns when
    empty.

    With `labels`, which returns those of a row, a label that would be missing from train stays there
    with all of its rows: a model cannot predict what it never saw in training. A part that would have a single label
    exchanges rows with train, unless the rows are in the order of time (`tail`).

    Plain text with `tail` is cut by characters at line breaks, so that both sides remain readable text.
    """
    if valid_share + test_share >= 1:
        raise DataError(
            f"data.valid_share={valid_share:g} and data.test_share={test_share:g} leave nothing to train on.",
            where=source.name,
            cure="Lower one of them.",
        )
    if how == "tail" and isinstance(source, TextSource):
        return _cut_text(source, valid_share=valid_share, test_share=test_share)
    keys, columns = None, list(key_columns) or source.columns
    if how == "content":
        keys = _content_keys(source, seed=seed, columns=columns)
        marks = _by_content(keys, valid_share, test_share)
    else:
        marks = _by_order(
            sum(1 for _ in source.rows()), valid_share, test_share, seed=seed if how == "random" else None
        )
    train_only_labels: tuple[str, ...] = ()
    if labels is not None:
        train_only_labels, only_label = _keep_labels(source, marks, labels, keys)
        for mark, label in only_label.items() if how != "tail" else ():
            _exchange_rows(source, marks, labels, keys, mark=mark, only=label)
    shares = {TRAIN: 1 - valid_share - test_share, VALID: valid_share, TEST: test_share}
    empty = [mark for mark, share in shares.items() if share and not marks.count(mark)]
    if empty:
        raise _nothing_left(
            source, empty[0], keys or range(len(marks)), columns=columns, train_only_labels=train_only_labels
        )
    kind = MarkedLines if isinstance(source, TextSource) else MarkedRows
    return Splits(
        train=kind(source, marks, TRAIN, part="train"),
        valid=kind(source, marks, VALID, part="held out for validation") if valid_share else None,
        test=kind(source, marks, TEST, part="held out for testing") if test_share else None,
        train_only_labels=train_only_labels,
    )


def _keep_labels(
    source: Source, marks: bytearray, labels: Callable[[Row], Iterable[str]], keys: Sequence[int] | None
) -> tuple[tuple[str, ...], dict[int, str]]:
    """Return rows to train until every label occurs there; returns the labels for which that was needed, and by part the
    label that is then the only one there.

    Rows with equal keys move together.
    """
    held: dict[str, list[int]] = {}
    trained: set[str] = set()
    for place, row in enumerate(source.rows()):
        for label in set(labels(row)):  # a tag may occur many times in a sentence
            if marks[place] == TRAIN:
                trained.add(label)
            else:
                held.setdefault(label, []).append(place)
    missing = sorted(held.keys() - trained)
    places = {place for label in missing for place in held[label]}
    moved = {keys[place] for place in places} if keys is not None else set[int]()
    for place in range(len(marks)) if missing else ():
        if place in places or (keys is not None and keys[place] in moved):
            marks[place] = TRAIN
    there = {
        mark: [label for label, places in held.items() if any(marks[place] == mark for place in places)]
        for mark in (VALID, TEST)
    }
    return tuple(missing), {mark: names[0] for mark, names in there.items() if len(names) == 1}


def _exchange_rows(
    source: Source,
    marks: bytearray,
    labels: Callable[[Row], Iterable[str]],
    keys: Sequence[int] | None,
    *,
    mark: int,
    only: str,
) -> None:
    """Exchange rows of a part with a single label for rows of train, so that a score on it can tell labels apart.

    The rows that come have another label, which train keeps, and the smallest key; as many rows go, so the shares
    stay. Rows with equal keys move together. A part with one row, or nothing to exchange, remains as it is.
    """
    places: dict[int, dict[int, list[int]]] = {TRAIN: {}, mark: {}}
    counts: dict[int, Counter[str]] = {}
    for place, row in enumerate(source.rows()):
        if marks[place] in places:
            key = keys[place] if keys is not None else place
            places[marks[place]].setdefault(key, []).append(place)
            counts.setdefault(key, Counter()).update(set(labels(row)))
    total = sum((counts[key] for key in places[TRAIN]), Counter[str]())
    leaving = {len(group): key for key, group in sorted(places[mark].items(), reverse=True)}  # by size
    pairs = (
        (come, leaving[len(group)])
        for come, group in places[TRAIN].items()
        if len(group) in leaving
        and counts[come].keys() - {only}
        and all(total[label] > count for label, count in counts[come].items())
    )
    if len(places[mark]) > 1 and (pair := min(pairs, default=None)):
        for place in places[TRAIN][pair[0]]:
            marks[place] = mark
        for place in places[mark][pair[1]]:
            marks[place] = TRAIN


def content_key(row: Row, columns: Sequence[str], *, seed: int) -> int:
    """A 64-bit hash of a row's content, the same in every process."""
    digest = hashlib.blake2b(digest_size=8, key=str(seed).encode())
    for column in columns:
        cell = cell_text(row.values.get(column)).encode("utf-8", "surrogatepass")
        digest.update(len(cell).to_bytes(8, "big"))  # so that ("ab", "c") is not ("a", "bc")
        digest.update(cell)
    return int.from_bytes(digest.digest(), "big")


def cell_text(value: Any) -> str:
    return value if isinstance(value, str) else repr(value)


def _content_keys(source: Source, *, seed: int, columns: Sequence[str]) -> Sequence[int]:
    return array("Q", (content_key(row, columns, seed=derive(seed, "split")) for row in source.rows()))


def _by_content(keys: Sequence[int], valid_share: float, test_share: float) -> bytearray:
    num_test, num_valid = _count(len(keys), test_share), _count(len(keys), valid_share)
    ordered = sorted(keys)
    last_test = ordered[num_test - 1] if num_test else -1
    after_test = next((at for at in range(num_test, len(ordered)) if ordered[at] > last_test), len(ordered))
    last_valid = (
        ordered[min(after_test + num_valid, len(ordered)) - 1] if num_valid and ordered else last_test
    )
    return bytearray(TEST if key <= last_test else VALID if key <= last_valid else TRAIN for key in keys)


def _by_order(num_rows: int, valid_share: float, test_share: float, *, seed: int | None) -> bytearray:
    num_test, num_valid = _count(num_rows, test_share), _count(num_rows, valid_share)
    order: Sequence[int] = range(num_rows - 1, -1, -1)
    if seed is not None:
        order = random.Random(derive(seed, "split")).sample(range(num_rows), num_test + num_valid)  # noqa: S311 (no secret)
    marks = bytearray(num_rows)
    for rank in range(num_test + num_valid):
        marks[order[rank]] = TEST if rank < num_test else VALID
    return marks


def _count(num_rows: int, share: float) -> int:
    return int(num_rows * share + 0.5)


def _nothing_left(
    source: Source,
    mark: int,
    keys: Sequence[int],
    *,
    columns: Sequence[str],
    train_only_labels: Sequence[str],
) -> DataError:
    """Why a split would be empty: rows with equal keys stay together, and so do rows whose label is in no other split."""
    if not keys and source.bad_rows.count:
        return DataError(
            f"none of its {source.bad_rows.count:,} rows can be used, the first: {source.bad_rows.messages[0]}",
            where=source.name,
            cure="Are these the right task and columns? Set task=NAME and data.text=NAME, or data.features=NAME,NAME for"
            " numbers.",
        )
    part = {TRAIN: "training", VALID: "validation", TEST: "testing"}[mark]
    most = max(Counter(keys).values(), default=0)
    if most > len(keys) / 2 and most > 1:
        return DataError(
            f"{most:,} of {len(keys):,} rows are identical in {listed(columns)}, and identical rows stay in one split:"
            f" none would be left for {part}.",
            where=source.name,
            cure="Is this the right column? To change it, set data.text=NAME. To allow identical rows in several splits, set"
            " data.split=random",
        )
    if train_only_labels:
        return DataError(
            f"the labels do not repeat often enough to hold out rows for {part}: each of"
            f" {len(train_only_labels):,} labels, such as {shortened(train_only_labels[0])!r}, would be missing from train.",
            where=source.name,
            cure="Do they identify rows rather than classes? To choose another column, set data.label=NAME.",
        )
    share = "data.test_share" if mark == TEST else "data.valid_share"
    return DataError(
        f"{len(keys):,} {'row is' if len(keys) == 1 else 'rows are'} too few: none would be left for {part}.",
        where=source.name,
        cure=f"Add rows, pass a separate file (data.valid=FILE, data.test=FILE), or change {share}.",
    )


def _cut_text(source: TextSource, *, valid_share: float, test_share: float) -> Splits:
    total = sum(len(chunk) for chunk in source.chunks(1 << 20))
    num_test, num_valid = _count(total, test_share), _count(total, valid_share)
    cuts = _line_ends_after(source, [total - num_test - num_valid, total - num_test])
    (first, first_line), (second, second_line) = cuts
    if first == 0 or (num_valid and second <= first) or (num_test and total <= second):
        cure = "Add text, or pass a separate file (data.valid=FILE, data.test=FILE)."
        raise DataError(
            f"{total:,} characters are too few to hold out a split.", where=source.name, cure=cure
        )
    return Splits(
        train=TextPart(source, start=0, stop=first, first_line=1, part="train"),
        valid=(
            TextPart(source, start=first, stop=second, first_line=first_line, part="held out for validation")
            if num_valid
            else None
        ),
        test=(
            TextPart(source, start=second, stop=total, first_line=second_line, part="held out for testing")
            if num_test
            else None
        ),
    )


def _line_ends_after(source: TextSource, positions: Sequence[int]) -> list[tuple[int, int]]:
    """For each position the next line break, unless none is near, with the number of the line that follows."""
    begin, line, ends = 0, 1, list[tuple[int, int]]()
    waiting = list(positions)
    for chunk in source.chunks(1 << 20):
        while waiting and begin + len(chunk) >= waiting[0]:
            at = max(waiting.pop(0) - begin, 0)
            # A position right after a line break is unchanged; so is one with no line break soon after it.
            end = (
                at
                if at == 0 or chunk[at - 1] == "\n"
                else chunk.find("\n", at, at + LINE_END_WITHIN) + 1 or at
            )
            ends.append((begin + end, line + chunk.count("\n", 0, end)))
        begin += len(chunk)
        line += chunk.count("\n")
    return ends + [(begin, line)] * (len(positions) - len(ends))
