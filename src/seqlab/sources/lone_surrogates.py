"""Halves of surrogate pairs: JSON and Python strings can contain them, but they are not valid text and cannot be encoded."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from seqlab.core.errors import DataError


def reject_lone_surrogates(values: Mapping[str, Any], *, where: str, cure: str) -> None:
    """Check the names and cells of a row, however deep in lists and objects.

    >>> reject_lone_surrogates({"labels": ["a", "\\ud800"]}, where="x.jsonl, line 3", cure="Fix it.")
    Traceback (most recent call last):
    seqlab.core.errors.DataError: x.jsonl, line 3: 'labels' contains half of a surrogate pair (\\ud800), which is not valid text.
      Fix it.
    """
    for name, cell in values.items():
        text = json.dumps([name, cell], ensure_ascii=False, default=str)
        try:
            text.encode()
        except UnicodeEncodeError as error:
            half = f"\\u{ord(text[error.start]):04x}"
            what = f"{name!a} contains half of a surrogate pair ({half}), which is not valid text."
            raise DataError(what, where=where, cure=cure) from error
