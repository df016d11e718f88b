"""Questions with a list of possible answers and the key of the right one: recognized but not supported."""

from __future__ import annotations

from collections.abc import Sequence
from string import ascii_uppercase
from typing import Any

from seqlab.core.errors import DataError
from seqlab.core.shell_words import setting_word
from seqlab.sources.base import Row, Source

CHOICES = ("choices", "options", "endings")
"""Names of the list, anywhere in the path of a column."""
KEYS = ("answerkey", "answer_key", "answer", "correct_answer", "correct", "gold", "label", "answer_idx")
"""Names of the column with the right answer."""
LOOKED_AT = 100
FEWEST = 2


def reject_multiple_choice(source: Source, rows: Sequence[Row]) -> None:
    """Reject a table in which a key selects one of several choices in every row."""
    rows = rows[:LOOKED_AT]
    for choices in source.columns:
        if not any(part in CHOICES for part in choices.lower().split(".")):
            continue
        for key in source.columns:
            if key.lower().rpartition(".")[2] in KEYS and key != choices and _selects(rows, choices, key):
                raise _unsupported(source, choices, key)


def _selects(rows: Sequence[Row], choices: str, key: str) -> bool:
    """Whether every row has some choices, and its key is the letter, the number or the text of one of them."""
    return bool(rows) and all(_is_selected(row.values.get(choices), row.values.get(key)) for row in rows)


def _is_selected(options: object, answer: object) -> bool:
    return isinstance(options, list) and len(options) >= FEWEST and answer in _names(options)


def _names(options: list[Any]) -> list[Any]:
    """What may stand for one of the options.

    >>> _names(["left", "right"])
    ['left', 'right', 'A', 'B', 0, 1, '0', '1']
    """
    places = range(len(options))
    return [*options, *ascii_uppercase[: len(options)], *places, *map(str, places)]


def _unsupported(source: Source, choices: str, key: str) -> DataError:
    text = next(
        (name for name in source.columns if name.lower().rpartition(".")[2] in ("question", "stem", "text")),
        "NAME",
    )
    return DataError(
        f"multiple choice: column '{key}' selects one of the choices in column '{choices}', which is not supported.",
        where=source.name,
        cure=(
            "To train a classifier that judges each choice, write one row per choice (question,choice,right) with"
            " right = yes or no. To predict the key from the question alone, set"
            f" {setting_word('data.text', text)} {setting_word('data.label', key)}"
        ),
    )
