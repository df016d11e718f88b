"""Which column of a table holds the text, the label, the sequence or the numbers, and which setting overrides
the guess.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from weakref import WeakKeyDictionary

from seqlab.core.errors import DataError
from seqlab.sources.base import Row, Source, TextSource, require_columns
from seqlab.sources.column_names import LABEL_NAMES, SPLIT_NAMES, TAG_NAMES, is_named
from seqlab.sources.column_profile import profile
from seqlab.sources.roles.base import ANOTHER_TASK, Answer, ColumnRoles
from seqlab.sources.roles.multiple_choice import reject_multiple_choice
from seqlab.sources.roles.series_roles import series_roles
from seqlab.sources.roles.span_annotations import is_review, reject_spans
from seqlab.sources.roles.tagged_roles import frame_roles, word_roles, word_row_roles
from seqlab.sources.roles.text_evidence import find_pair, pick_text
from seqlab.sources.roles.text_roles import text_roles
from seqlab.sources.settings import DataSettings
from seqlab.sources.views.frames import holds_vectors
from seqlab.sources.views.joined_columns import names_of
from seqlab.sources.views.word_texts import with_joined_words
from seqlab.sources.word_lists import are_paired, holds_lists, holds_tags

__all__ = ["SAMPLE", "Answer", "ColumnRoles", "find_pair_of", "find_roles"]

SAMPLE = 1000
"""Number of rows from which the roles of columns are inferred."""
MOST_CELLS = 1_000_000
"""Maximum number of cells to inspect: a table with thousands of columns is judged by fewer rows. A million cells take about 10 s."""
FEWEST_ROWS = 20


_known_roles: WeakKeyDictionary[Source, dict[tuple[int, DataSettings], ColumnRoles]] = WeakKeyDictionary()
"""The roles of sources that are still in use: the task and its columns are asked for one after the other."""


def find_roles(source: Source, *, sample: int = SAMPLE, settings: DataSettings | None = None) -> ColumnRoles:
    """Infer the roles from the first rows, once per source; columns named in the settings are kept."""
    asked = (sample, settings or DataSettings())
    known = _known_roles.setdefault(source, {})
    if asked not in known:
        known[asked] = _find_roles(source, *asked)
    return known[asked]


def _find_roles(source: Source, sample: int, data: DataSettings) -> ColumnRoles:
    texts, labels = (names_of(setting, source.columns) for setting in (data.text, data.label))
    require_columns(source, [*texts, *labels, data.sequence, *data.features])
    if isinstance(source, TextSource):
        return ColumnRoles(
            "none",
            "text",
            evidence="plain text",
            alternative=f"{ANOTHER_TASK}, data.format=NAME to change the format",
        )
    rows = first_rows(source, sample)
    if not data.text and not data.label:
        reject_multiple_choice(source, rows)
    words, lists = (
        [name for name in source.columns if holds(rows, name)] for holds in (holds_lists, holds_tags)
    )
    # A column with label names next to a column with label ids does not contain words.
    tokens = [name for name in words if name == data.text or not is_named(name, (*LABEL_NAMES, *TAG_NAMES))]
    if are_paired(rows, tokens, lists):
        return word_roles(tokens, lists, data)
    vectors = [name for name in source.columns if rows and holds_vectors(rows[0].values.get(name))]
    if lists and vectors and not data.text and not data.sequence:
        return frame_roles(vectors, lists, data)
    left_out = {name for name in source.columns if name not in lists and _holds_structures(rows, name)}
    left_out |= {name for name in source.columns if name.lower() in SPLIT_NAMES}
    left_out |= {name for name in ("answer",) if data.label != name and is_review(source, rows, name)}
    columns = {name: profile(rows, name) for name in source.columns if name not in left_out}
    if not data.features and (roles := word_row_roles(columns, data)):
        return roles
    readable = {name: column for name, column in columns.items() if name not in lists}
    text = data.text or ("" if data.sequence or data.features else pick_text(readable, taken=data.label))
    if text:
        roles = text_roles(rows, columns, text, data)
        if roles.answer == "none" and not data.text:
            reject_spans(source, rows, text)
        return roles
    if len(words) == 1 and not data.sequence:
        joined = profile([with_joined_words(row, words) for row in rows], words[0])
        roles = text_roles(rows, {**columns, words[0]: joined}, words[0], data)
        if roles.label:
            return roles
        raise _no_tags(source, words[0])
    return series_roles(source, rows, columns, data)


def first_rows(source: Source, most: int) -> list[Row]:
    """The rows from which roles are inferred: fewer of a table with very many columns."""
    fitting = MOST_CELLS // max(len(source.columns), 1)
    return list(islice(source.rows(), min(most, max(fitting, FEWEST_ROWS))))


def _holds_structures(rows: Sequence[Row], column: str) -> bool:
    """Whether cells contain lists or objects that cannot be read."""
    return any(isinstance(row.values.get(column), list | dict) for row in rows)


def find_pair_of(source: Source) -> tuple[str, str] | None:
    """The two columns of a table that look like source and target."""
    rows = first_rows(source, SAMPLE)
    pair = find_pair({name: profile(rows, name) for name in source.columns})
    return pair[0] if pair else None


def _no_tags(source: Source, words: str) -> DataError:
    return DataError(
        f"column '{words}' contains words, but no column has a tag for each of them.",
        where=source.name,
        cure=(
            'Each row needs both, such as {"tokens": ["It", "is"], "tags": ["PRON", "AUX"]}. Name the'
            " columns with data.text=NAME data.label=NAME"
        ),
    )
