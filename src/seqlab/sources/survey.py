"""The data report: what is in the parts of a dataset, and what could spoil an honest score.

Texts are remembered as 8-byte hashes, so a report on many millions of rows fits into memory.
"""

from __future__ import annotations

import hashlib
from array import array
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, pairwise

from seqlab.sources.base import Row, Source
from seqlab.sources.splitting import cell_text

SHOWN = 5
QUANTILES = (0.0, 0.1, 0.5, 0.9, 0.99, 1.0)


@dataclass(frozen=True)
class Quantiles:
    """How a count is spread over the rows: the smallest, 10 %, the median, 90 %, 99 %, the largest, and the mean."""

    smallest: int
    tenth: int
    median: int
    ninetieth: int
    ninety_ninth: int
    largest: int
    mean: float


@dataclass(frozen=True)
class Leak:
    """One row that also stands in the training part."""

    where: str
    also: str


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
    leaks: int = 0
    first_leaks: list[Leak] = field(default_factory=list)
    unseen_labels: dict[str, int] = field(default_factory=dict)
    skipped: int = 0
    first_skipped: list[str] = field(default_factory=list)

    @property
    def balance(self) -> float:
        """The share of the most frequent label: what always answering it would score."""
        return max(self.labels.values()) / sum(self.labels.values()) if self.labels else 0.0


@dataclass
class Survey:
    """All parts, and what is odd across them."""

    parts: dict[str, PartSurvey]
    similar_labels: list[tuple[str, str]]

    @property
    def warnings(self) -> list[str]:
        """One sentence for everything that deserves a look."""
        found = [sentence for name, part in self.parts.items() for sentence in _warnings(name, part)]
        return found + [f"labels {a!r} and {b!r} differ only in blanks or case" for a, b in self.similar_labels]


def survey(splits: Mapping[str, Source], *, text: str, label: str = "") -> Survey:
    """Read every part once, the training part first. `text` may also be a column of steps: their number is the length."""
    train = _Texts()
    parts = {}
    for name in sorted(splits, key=lambda name: name != "train"):
        parts[name] = _survey_part(splits[name], text=text, label=label, train=train, is_train=name == "train")
    if "train" in parts:
        for part in parts.values():
            part.unseen_labels = {value: count for value, count in part.labels.items() if value not in parts["train"].labels}
    labels = sorted({value for part in parts.values() for value in part.labels})
    return Survey({name: parts[name] for name in splits}, _similar(labels))


class _Texts:
    """The texts of one part, as hashes, with the place of each."""

    def __init__(self) -> None:
        self._keys = array("Q")
        self._ordered = array("Q")
        self._files: list[str] = []
        self._file_of, self._line_of = array("L"), array("L")

    def add(self, key: int, row: Row) -> None:
        if not self._files or self._files[-1] != row.file:
            self._files.append(row.file)
        self._keys.append(key)
        self._file_of.append(len(self._files) - 1)
        self._line_of.append(row.line)

    def close(self) -> int:
        """Order the hashes for look-up; returns how many repeat an earlier one."""
        self._ordered = array("Q", sorted(self._keys))
        return sum(before == after for before, after in pairwise(self._ordered))

    def __contains__(self, key: int) -> bool:
        at = bisect_left(self._ordered, key)
        return at < len(self._ordered) and self._ordered[at] == key

    def where(self, key: int) -> str:
        index = self._keys.index(key)
        return f"{self._files[self._file_of[index]]}, line {self._line_of[index]}"


def _survey_part(source: Source, *, text: str, label: str, train: _Texts, is_train: bool) -> PartSurvey:
    part, own = PartSurvey(), train if is_train else _Texts()
    characters, words, labels = Counter[int](), Counter[int](), Counter[str]()
    for row in source.rows():
        value = row.values.get(text, "")
        content = cell_text(value)
        num_characters, num_words = (len(content), len(content.split())) if isinstance(value, str) else (len(value), len(value))
        characters[num_characters] += 1
        words[num_words] += 1
        if label:
            given = row.values.get(label, "")
            labels.update(map(cell_text, given if isinstance(given, list) else [given]))  # one for the row, or one for every word
        if num_words:
            _note_text(part, row, _key(content), own=own, train=None if is_train else train)
        else:
            part.empty += 1
            part.first_empty += [row.where] if part.empty <= SHOWN else []
    part.rows = characters.total()
    part.characters = sum(length * count for length, count in characters.items())
    part.length_characters, part.length_words = _quantiles(characters), _quantiles(words)
    part.labels = dict(labels.most_common())
    part.duplicates = own.close()
    part.skipped, part.first_skipped = source.bad_rows.count, list(source.bad_rows.messages)
    return part


def _note_text(part: PartSurvey, row: Row, key: int, *, own: _Texts, train: _Texts | None) -> None:
    own.add(key, row)
    if train is not None and key in train:
        part.leaks += 1
        part.first_leaks += [Leak(row.where, train.where(key))] if part.leaks <= SHOWN else []


def _key(content: str) -> int:
    return int.from_bytes(hashlib.blake2b(content.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "big")


def _quantiles(counts: Counter[int]) -> Quantiles | None:
    """Exact quantiles out of how often each length occurs."""
    total = counts.total()
    if not total:
        return None
    lengths = sorted(counts)
    upto = list(accumulate(counts[length] for length in lengths))
    smallest, tenth, median, ninetieth, ninety_ninth, largest = (lengths[bisect_right(upto, round(share * (total - 1)))] for share in QUANTILES)
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
    found = []
    if part.empty:
        found.append(f"{name}: {part.empty:,} empty texts, the first at {part.first_empty[0]}")
    if part.duplicates:
        found.append(f"{name}: {part.duplicates:,} texts repeat an earlier one")
    if part.leaks:
        leak = part.first_leaks[0]
        found.append(f"{name}: {part.leaks:,} texts also stand in train, the first at {leak.where} (train: {leak.also})")
    if part.unseen_labels:
        found.append(f"{name}: labels that train never has: {', '.join(map(repr, list(part.unseen_labels)[:SHOWN]))}")
    if part.skipped:
        found.append(f"{name}: {part.skipped:,} rows were skipped, the first: {part.first_skipped[0]}")
    return found
