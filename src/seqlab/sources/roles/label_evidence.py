"""Which column is the label: every piece of evidence is a small function, and their points are added."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median

from seqlab.sources.column_names import (
    LABEL_NAMES,
    NUMBER_NAMES,
    SIDE_NAMES,
    WEAK_LABEL_NAMES,
    is_id_name,
    is_named,
)
from seqlab.sources.column_profile import ColumnProfile
from seqlab.sources.label_lists import holds_written_lists, list_separator
from seqlab.sources.local_numbers import is_plain, plain, without_unit
from seqlab.sources.roles.base import Answer, Evidence
from seqlab.sources.roles.predictability import gain

MOST_CLASSES_OF_NUMBERS = 20
"""Numbers with more distinct values than this are measurements rather than classes."""
LEAST_POINTS = 0.25
CLOSE = 1.0
"""A runner-up within this many points makes the choice uncertain."""
MOST_COMPARED = 12
"""Number of candidates whose predictability from the text is computed; those with the best other evidence."""


@dataclass(frozen=True)
class Candidate:
    """A column that may be the label, what it would contain, and how likely it is."""

    column: ColumnProfile
    answer: Answer
    points: float = 0.0
    facts: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        return self.column.name


@dataclass(frozen=True)
class Table:
    """The columns of a table in order, and the cells of its text column."""

    columns: list[str]
    texts: list[str]


def rank_labels(
    columns: Sequence[ColumnProfile], table: Table, *, lists: Sequence[str] = ()
) -> list[Candidate]:
    """The columns that may be the label, the likeliest first. lists: columns whose cells are lists of labels."""
    candidates = [Candidate(column, answer) for column in columns if (answer := _answer(column, lists))]
    weighed = sorted((_weigh(one, table, PLAIN_EVIDENCE) for one in candidates), key=lambda one: -one.points)
    asked = [_weigh(one, table, (predicted,)) for one in weighed[:MOST_COMPARED]]
    return sorted(asked, key=lambda one: -one.points)


def is_measured(column: ColumnProfile | None) -> bool:
    """Whether the values are numbers, too many distinct ones to be classes."""
    return (
        column is not None
        and column.is_number
        and not column.is_class
        and column.num_distinct > MOST_CLASSES_OF_NUMBERS
    )


def _answer(column: ColumnProfile, lists: Sequence[str]) -> Answer:
    """The kind of label that a column would contain; empty if it cannot be one."""
    if column.name in lists or holds_written_lists(column.cells):
        return "labels"
    if not column.is_mostly_number and list_separator(column.cells):
        return "labels"
    if column.is_id or column.is_formal or column.num_rows == column.num_empty:
        return ""
    if column.is_class:
        return "class"
    if is_measured(column) or (column.number_share > 0.9 and column.num_distinct > MOST_CLASSES_OF_NUMBERS):
        return "number"
    if is_named(column.name, LABEL_NAMES) and column.mean_words < 6:
        return "class"
    return ""


def _weigh(one: Candidate, table: Table, evidence: Sequence[Weigh]) -> Candidate:
    pieces = [weigh(one, table) for weigh in evidence]
    facts = tuple(piece.fact for piece in pieces if piece.fact)
    return Candidate(
        one.column, one.answer, one.points + sum(piece.points for piece in pieces), one.facts + facts
    )


def named(one: Candidate, _: Table) -> Evidence:
    """Unambiguous names weigh most."""
    name = one.name
    if is_named(name, SIDE_NAMES) or is_id_name(name):
        return Evidence(-1.5)
    if one.answer == "number":
        return Evidence(3 if is_named(name, (*NUMBER_NAMES, *LABEL_NAMES)) else -2)
    if is_named(name, LABEL_NAMES):
        return Evidence(4 if "gold" in name.lower() else 3)  # next to the labels of individual annotators
    return Evidence(1.5) if is_named(name, WEAK_LABEL_NAMES) else Evidence(0)


def placed(one: Candidate, table: Table) -> Evidence:
    """Labels tend to be in the last column, or the first."""
    place = table.columns.index(one.name) if one.name in table.columns else -1
    return Evidence(0.75 if place == len(table.columns) - 1 else 0.5 if place == 0 else 0.0)


def balanced(one: Candidate, _: Table) -> Evidence:
    """A handful of classes, each with its share of the rows; a constant says nothing."""
    if one.answer == "number":
        return Evidence(0)
    if one.column.num_distinct == 1:
        return Evidence(-1.5)
    count, evenness = one.column.num_distinct, one.column.evenness
    return Evidence((0.5 if count <= 12 else -0.5 if count > 50 else 0.0) - (1.0 if evenness < 0.3 else 0.0))


def complete(one: Candidate, _: Table) -> Evidence:
    """A column that is empty in most rows is rarely the label."""
    share = one.column.empty_share
    points = -4.0 if share > 0.7 else -1.5 if share > 0.3 else -0.5 if share > 0.05 else 0.0
    return Evidence(points, f"empty in {share:.0%} of the rows" if share > 0.05 else "")


def predicted(one: Candidate, table: Table) -> Evidence:
    """If the words of the text predict a column, a model can learn it."""
    values = [cell.strip() for cell in one.column.cells]
    if one.answer == "number":
        values = _halves(values, one.column)
    elif one.answer == "labels" and (mark := list_separator(values)):
        values = [value.partition(mark)[0] for value in values]
    share = gain(table.texts, values)
    return Evidence(4 * share, "predictable from the text") if share > 0.15 else Evidence(0)


def _halves(values: Sequence[str], column: ColumnProfile) -> list[str]:
    """Numbers as above or below their median."""
    numbers = [plain(without_unit(value, [column.unit]), column.decimal) for value in values]
    middle = median(float(number) for number in numbers if is_plain(number))
    return [("high" if float(number) > middle else "low") if is_plain(number) else "" for number in numbers]


Weigh = Callable[[Candidate, Table], Evidence]
PLAIN_EVIDENCE: tuple[Weigh, ...] = (named, placed, balanced, complete)
