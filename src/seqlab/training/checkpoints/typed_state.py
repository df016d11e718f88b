"""The numbers in the state of a checkpoint, read back with the types that their dataclasses declare.

The digest of a checkpoint says that it is as it was written, not that seqlab wrote it.
"""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from seqlab.core.errors import RunError

Read = TypeVar("Read")


def read_state(kind: type[Read], raw: Any) -> Read:
    """`kind(**raw)`; raises ValueError if a number is not what the dataclass declares: an integer from 0, or a finite
    number.

    >>> from seqlab.batches.loader import Cursor
    >>> read_state(Cursor, {"epoch": 1, "batch": "last"})
    Traceback (most recent call last):
    ValueError: batch is 'last'
    """
    for field in dataclasses.fields(kind):  # type: ignore[arg-type]  # the type of a dataclass
        declared, is_optional, _ = str(field.type).partition(" | None")
        value = raw.get(field.name)
        if declared not in ("int", "float") or field.name not in raw or (value is None and is_optional):
            continue
        if not (_is_count(value) if declared == "int" else _is_finite(value)):
            raise ValueError(f"{field.name} is {str(value)[:20]!r}")
    return kind(**raw)


@contextmanager
def explain_odd_state(checkpoints: Path) -> Iterator[None]:
    """Turn whatever a state of other types raises into a RunError."""
    try:
        yield
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise RunError(
            f"the state of the checkpoint cannot be read ({error}).",
            where=str(checkpoints),
            cure="Restore a checkpoint from a copy, or train again.",
        ) from error


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= sys.maxsize


def _is_finite(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= sys.float_info.max
