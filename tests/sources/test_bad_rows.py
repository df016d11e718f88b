"""Rows that are skipped count once, however often a source is read."""

from __future__ import annotations

import pytest

from seqlab.core.errors import DataError
from seqlab.sources.bad_rows import BadRows


def test_a_row_counts_once_in_all_passes_and_whatever_is_wrong_with_it() -> None:
    policy = BadRows(skip=True)
    for places in (
        ["a.csv, line 2", "a.csv, line 7, column 3"],
        ["a.csv, line 7", "a.csv, line 9", "b.csv, line 2"],
    ):
        reading = policy.new_pass()
        for place in places:
            reading.reject(DataError("odd.", where=place))
    assert policy.count == 4
    assert policy.messages[:2] == ["a.csv, line 2: odd.", "a.csv, line 7, column 3: odd."]


def test_of_very_many_rows_the_fullest_pass_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("seqlab.sources.bad_rows.MOST_PLACES", 3)
    policy = BadRows(skip=True)
    for _ in range(2):
        reading = policy.new_pass()
        for line in range(8):
            reading.reject(DataError("odd.", where=f"a.csv, line {line}"))
    assert policy.count == 8
