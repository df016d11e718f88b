"""Which column is the text, and whether two columns are source and target."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from itertools import combinations
from statistics import correlation

from seqlab.sources.column_names import (
    LABEL_NAMES,
    LANGUAGES,
    PAIR_NAMES,
    PERSON_NAMES,
    SIDE_NAMES,
    TEXT_NAMES,
    TWIN_NAMES,
    is_id_name,
    is_named,
)
from seqlab.sources.column_profile import ColumnProfile
from seqlab.sources.roles.languages import language_of

NAMED = 1.6
"""Points for a name: a column three times as long is still preferred (`description` over `title`)."""
MOST_FOR_WORDS = 2.0
"""Maximum number of points for the words of a text: four of them are enough."""
PAIR_POINTS = 2.5
"""Minimum number of points for two columns to be a pair."""


def pick_text(columns: Mapping[str, ColumnProfile], *, taken: str) -> str:
    """The column with the most text, unless a shorter one is named like text; empty if none looks like text.

    A column named like a label is not a text, unless all texts are named so (`title.label`, `content.label`).
    """
    texts = {
        name: column
        for name, column in columns.items()
        if name != taken and (column.is_text or (is_named(name, TEXT_NAMES) and _holds_words(column)))
    }
    likely = {name: column for name, column in texts.items() if not is_named(name, LABEL_NAMES)}
    if not likely and len(texts) > 1:
        likely = texts
    return max(likely, key=lambda name: text_points(likely[name]), default="")


def _holds_words(column: ColumnProfile) -> bool:
    return not (column.is_mostly_number or column.is_formal or column.num_empty == column.num_rows)


def text_points(column: ColumnProfile) -> float:
    """Length counts logarithmically, and so do words: a link is long, but no sentence. Repeated texts, empty cells, and
    names of other things count against a column.
    """
    num_filled = max(column.num_rows - column.num_empty, 1)
    repeats = math.log2(max(column.num_distinct, 1) / num_filled)
    words = min(math.log2(max(column.mean_words, 1)), MOST_FOR_WORDS)
    names = NAMED * is_named(column.name, TEXT_NAMES) - 3 * is_id_name(column.name)
    return (
        math.log2(1 + column.mean_length)
        + words
        + max(repeats, -4.0)
        + math.log2(num_filled / max(column.num_rows, 1))
        + names
        - 1.5 * is_named(column.name, SIDE_NAMES)
        - 2.0 * column.is_class
    )


def other_texts(columns: Mapping[str, ColumnProfile], *, text: str, label: str) -> list[str]:
    """Other columns of sentences that could be read as well."""
    return [
        name
        for name, column in columns.items()
        if column.is_text
        and name not in (text, label)
        and not is_named(name, PERSON_NAMES)
        and column.mean_words >= 2.5
        and column.empty_share < 0.5
    ]


def find_pair(columns: Mapping[str, ColumnProfile]) -> tuple[tuple[str, str], str] | None:
    """The two columns most like a pair, and why; None if there are none."""
    texts = [
        column
        for column in columns.values()
        if column.is_text and _is_varied(column) and not is_named(column.name, PERSON_NAMES)
    ]
    weighed = [
        (pair_points(first, second), first.name, second.name) for first, second in combinations(texts, 2)
    ]
    (points, why), first, second = max(weighed, key=lambda one: one[0][0], default=((0.0, ""), "", ""))
    return ((first, second), why) if points >= PAIR_POINTS else None


def find_paired_texts(columns: Mapping[str, ColumnProfile], *, taken: str) -> list[str]:
    """Two texts that share one label: `question1` and `question2`, `premise` and `hypothesis`; empty
    if no two columns have such names. Shorter names come first: `sentence1` rather than `sentence1_parse`.
    """
    texts = [name for name, column in columns.items() if name != taken and column.is_text]
    pairs = [pair for pair in combinations(texts, 2) if _are_counterparts(*(name.lower() for name in pair))]
    return list(min(pairs, key=lambda pair: len(pair[0]), default=()))


def _are_counterparts(first: str, second: str) -> bool:
    """Whether two names differ only in a number or letter, or belong together.

    >>> _are_counterparts("question1", "question2"), _are_counterparts("text_a", "text_b"), _are_counterparts("h1", "h21")
    (True, True, False)
    """
    number = re.search(r"1(?!\d)|_a$", first)
    if number is None:
        return (first, second) in TWIN_NAMES
    return first[: number.start()] + ("2" if number[0] == "1" else "_b") + first[number.end() :] == second


def _is_varied(column: ColumnProfile) -> bool:
    return column.num_distinct > 0.5 * (column.num_rows - column.num_empty) and column.empty_share < 0.5


def pair_points(first: ColumnProfile, second: ColumnProfile) -> tuple[float, str]:
    """How much two columns look like source and target sentences."""
    names = tuple(column.name.lower().rpartition(".")[2] for column in (first, second))
    languages = [language_of([cell for cell in column.cells if cell.strip()]) for column in (first, second)]
    together = _length_correlation(first.cells, second.cells)
    if names in PAIR_NAMES or all(is_named(name, LANGUAGES) for name in names):
        return 4 + together, "column names"
    if all(languages) and languages[0] != languages[1] and 0.3 < _ratio(first, second) < 3:
        readable = [language.capitalize() for language in languages]
        return 3 + together, f"{readable[0]} and {readable[1]}, sentence by sentence"
    if languages[0] and languages[0] == languages[1] and all(is_named(name, TEXT_NAMES) for name in names):
        return 0.0, ""  # title and body of one document
    if together > 0.85 and 0.5 < _ratio(first, second) < 2 and min(first.mean_words, second.mean_words) >= 1:
        return 2 + together, "their lengths are correlated"
    return 0.0, ""


def _ratio(first: ColumnProfile, second: ColumnProfile) -> float:
    return first.mean_length / max(second.mean_length, 1e-9)


def _length_correlation(first: Sequence[str], second: Sequence[str]) -> float:
    """The correlation of the lengths of two columns; 0 if one does not vary."""
    lengths = [(len(a), len(b)) for a, b in zip(first, second, strict=True) if a.strip() and b.strip()]
    if len({a for a, _ in lengths}) < 2 or len({b for _, b in lengths}) < 2:
        return 0.0
    return correlation(*zip(*lengths, strict=True))
