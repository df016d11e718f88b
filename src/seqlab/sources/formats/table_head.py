"""The head of a table: where it starts, whether its first row is a header, and which columns are used."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from seqlab.core.errors import DataError, shortened
from seqlab.sources.column_names import any_known
from seqlab.sources.settings import DataSettings

Record = tuple[int, list[str]]
"""The line on which a row starts, and its fields."""
MOST_TITLES = 20
MOST_COLUMNS = 100_000
"""Gene expression tables have about ten thousand."""
CONSISTENT = 0.8
"""Minimum fraction of rows with the same number of fields for shorter lines above them to count as titles."""
FEWEST_ROWS = 20
"""With fewer rows, the first row is not judged."""
LONGEST_NAME = 4
"""Maximum number of words in a column name."""
SENTENCE_ENDS = (".", "!", "?", "…", "。", "！", "？", "।", "؟")


@dataclass(frozen=True)
class TableHead:
    """line: where the header is, or the first row of a table without one. places: positions of the columns, or
    None for all of `width` fields.
    """

    line: int
    has_header: bool
    columns: list[str]
    width: int
    places: tuple[int, ...] | None
    notes: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    """The header as written in the file."""
    second_header: int = 0
    """The line of a second header below the header; 0 if there is none."""

    @property
    def first_row(self) -> int:
        """The line of the first row."""
        return max(self.line, self.second_header) + self.has_header

    @property
    def plain_width(self) -> int:
        """The number of fields of a row that needs no selection; none if columns are dropped."""
        return self.width if self.places is None else -1

    def cells(self, fields: list[str]) -> list[str]:
        """The cells of a row from which columns are dropped; empty if the row has the wrong number of fields.

        Empty fields at the end are optional.
        """
        places = range(self.width) if self.places is None else self.places
        if len(fields) <= places[-1] or any(field.strip() for field in fields[self.width :]):
            return []
        return [fields[place] for place in places]


def read_head(records: Sequence[Record], settings: DataSettings, *, where: str) -> TableHead:
    """The head of a table from its first rows."""
    at = _first_row(records, settings)
    line, first = records[at]
    if len(first) > MOST_COLUMNS:
        raise DataError(
            f"the table has {len(first):,} columns, more than the limit of {MOST_COLUMNS:,}.",
            where=f"{where}, line {line}",
            cure="Drop columns, or write the values of a row as one list (JSONL).",
        )
    rows = [fields for _, fields in records[at + 1 :] if any(field.strip() for field in fields)]
    notes = (
        [f"the table starts on line {line}, below a title or comment; set data.first_line to change it"]
        if at
        else []
    )
    if at and settings.first_line:
        notes = []
    has_header = settings.header == "true" or (settings.header == "auto" and not looks_like_row(first, rows))
    if not has_header:
        names = [str(number) for number in range(1, len(first) + 1)]
        if settings.header == "auto":
            notes.append(
                f"no header: the first line looks like a row ({shortened(', '.join(first), 40)}), so the"
                " columns are named 1, 2, …; if it is a header, set data.header=true"
            )
        return TableHead(line, has_header, names, len(names), None, tuple(notes))
    names = [name.strip() for name in first]
    width = _usual_width([first, *rows])
    if len(names) == width - 1:  # R does not name the column of row names
        names.insert(0, "")
    check_header(names, where=f"{where}, line {line}")
    empty = {place for place, name in enumerate(names) if not name and not _cells(rows, place)}
    names, name_notes = _complete_names(names, empty)
    notes += name_notes
    places = tuple(place for place in range(len(names)) if place not in empty) if empty else None
    columns = [name for place, name in enumerate(names) if place not in empty]
    second = 0
    if settings.header == "auto" and is_second_header(rows):
        second = records[at + 1][0]
        notes.append(
            f"line {second} ({shortened(', '.join(filter(None, rows[0])), 40)}) is a second header and"
            " is skipped; if it is a row, set data.header=true"
        )
    return TableHead(line, has_header, columns, len(names), places, tuple(notes), tuple(first), second)


def _first_row(records: Sequence[Record], settings: DataSettings) -> int:
    """The index of the first row that is neither a title nor a comment."""
    if settings.first_line:
        return next((at for at, (line, _) in enumerate(records) if line >= settings.first_line), 0)
    rows = [fields for _, fields in records]
    width = _usual_width(rows)
    if (
        width < 2
        or sum(len(fields) == width for fields in rows[1:]) < CONSISTENT * len(rows[1:])
        or len(rows) < 4
    ):
        return 0
    usual = median(_num_filled(fields) for fields in rows)
    for at, fields in enumerate(rows[:MOST_TITLES]):
        filled = _num_filled(fields)
        is_short = len(fields) < width - 1 and 2 * filled <= width
        is_title = filled <= 1 or is_short or 2 * filled <= usual  # spreadsheets pad titles to the full width
        if not is_title and not fields[0].startswith("# "):
            return at
    return 0


def _num_filled(fields: Sequence[str]) -> int:
    return sum(bool(field.strip()) for field in fields)


def _usual_width(rows: Sequence[Sequence[str]]) -> int:
    counts = Counter(len(fields) for fields in rows if fields)
    return max(counts, key=lambda width: (counts[width], width == len(rows[0]))) if counts else 0


def looks_like_row(first: Sequence[str], rows: Sequence[Sequence[str]]) -> bool:
    """Whether the first line of a table is a row like those below it, rather than the names of the columns.

    Every column votes: numbers below a word, or a short name above long texts, suggest a header; a value that
    repeats below, a number above numbers, or a sentence above sentences, suggests a row.

    >>> looks_like_row(["spam", "win a prize today"], [["ham", "are you home"], ["spam", "call now"]] * 2)
    True
    >>> looks_like_row(["kind", "what they wrote"], [["ham", "are you home"], ["spam", "call now"]] * 2)
    False
    """
    if not rows:
        return False
    votes = [_vote(cell.strip(), _cells(rows, place)) for place, cell in enumerate(first)]
    return sum(votes) < 0


def is_second_header(rows: Sequence[Sequence[str]]) -> bool:
    """Whether the first row describes the columns, as in survey exports below the questions: it lacks at
    least two cells that every other row has, and its values occur in no other row and do not look like a row.

    >>> answers = [[str(number), "3/4", f"because {number}", "Yes"] for number in range(20)]
    >>> is_second_header([["", "", "Open-Ended", "Response"], *answers]), is_second_header(answers)
    (True, False)
    """
    if len(rows) < FEWEST_ROWS:
        return False
    first, others = rows[0], rows[1:]
    below = [_cells(others, place) for place in range(len(first))]
    gaps = sum(
        not cell.strip() and len(cells) == len(others) for cell, cells in zip(first, below, strict=True)
    )
    comes_back = any(cell.strip() in cells for cell, cells in zip(first, below, strict=True))
    return gaps >= 2 and not comes_back and not looks_like_row(first, others)


def _vote(cell: str, below: list[str]) -> float:
    """Positive for a name, negative for a value."""
    if not cell or not below:
        return 0
    values = set(below)
    if cell in values and len(values) < 0.8 * len(below) and not is_number(cell):
        return -3
    if len(cell.split()) <= LONGEST_NAME and any_known(cell):
        return 4
    numbers = sum(map(is_number, below)) / len(below)
    if numbers > 0.8:
        return -2 if is_number(cell) else 3
    words = sum(len(value.split()) for value in below) / len(below)
    if words < 3:
        return 0
    return -2 if cell.endswith(SENTENCE_ENDS) or len(cell.split()) > max(3, words / 3) else 1.5


def _cells(rows: Sequence[Sequence[str]], place: int) -> list[str]:
    return [fields[place].strip() for fields in rows if place < len(fields) and fields[place].strip()]


def _complete_names(names: list[str], empty: set[int]) -> tuple[list[str], list[str]]:
    """Name unnamed columns and number duplicate names; also returns notes for the user."""
    notes, counts, complete = [], Counter[str](), list[str]()
    given, taken = set(names), set[str]()
    if empty:
        notes.append(f"dropped {len(empty)} unnamed empty column{'s' if len(empty) > 1 else ''}")
    for place, name in enumerate(names):
        counts[name] += 1
        new = name or f"column_{place + 1}"
        while name and (new in taken or (counts[name] > 1 and new in given)):
            new = f"{name}_{counts[name]}"
            counts[name] += new in taken or new in given
        complete.append(new)
        taken.add(new)
        if place not in empty and new != name:
            notes.append(
                f"column {place + 1} {f'has a duplicate name, {name!r},' if name else 'has no name'} and"
                f" is renamed '{new}'"
            )
    return complete, notes


def is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def check_header(names: list[str], *, where: str) -> None:
    """Column names must not be measurements: 5.1 and -3 are, 1990 is not."""
    for name in names:
        if is_number(name) and not name.isalnum():
            cure = "Add a first line with the column names; if the table has no header, set data.header=false"
            raise DataError(f"'{name}' is a number, so this line is not a header.", where=where, cure=cure)
