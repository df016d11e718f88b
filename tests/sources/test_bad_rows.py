"""Rows that are skipped count once, however often a source is read."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from seqlab.core.errors import DataError
from seqlab.sources.bad_rows import BadRows, EmptyCell, Pass, TooManyBadRows


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


def test_rows_that_are_lost_together_count_next_to_those_of_other_passes() -> None:
    policy = BadRows(skip=True)
    for _ in range(2):
        policy.new_pass().reject(DataError("never closed.", where="a.csv, line 2, column 3"), rows=5)
        policy.new_pass().reject(EmptyCell("column 'text' is empty.", where="a.csv, line 9"))
    assert policy.count == 6


def test_of_very_many_rows_the_fullest_pass_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("seqlab.sources.bad_rows.MOST_PLACES", 3)
    policy = BadRows(skip=True)
    for _ in range(2):
        reading = policy.new_pass()
        for line in range(8):
            reading.reject(DataError("odd.", where=f"a.csv, line {line}"))
    assert policy.count == 8


def read_with(policy: BadRows, *, empty: int, malformed: int, good: int) -> list[int]:
    """What a pass gives that meets so many rows of each kind."""

    def read(reading: Pass) -> Iterator[int]:
        for line in range(empty):
            reading.reject(EmptyCell("column 'text' is empty.", where=f"a.csv, line {line}"))
        for line in range(malformed):
            reading.reject(DataError("odd.", where=f"b.csv, line {line}"))
        yield from range(good)

    return list(policy.limited(read))


def test_rows_with_an_empty_cell_are_skipped_up_to_half_of_the_rows() -> None:
    policy = BadRows.of("few")
    assert len(read_with(policy, empty=50, malformed=0, good=50)) == 50
    assert policy.count == 50
    with pytest.raises(
        TooManyBadRows, match=r"(?s)a\.csv, line 0.*51 of 100 rows.*empty.*data\.bad_rows=skip"
    ):
        read_with(BadRows.of("few"), empty=51, malformed=0, good=49)


def test_more_than_a_few_skipped_rows_are_told_with_their_share_and_what_it_means() -> None:
    few, many = BadRows.of("few"), BadRows.of("few")
    read_with(few, empty=5, malformed=0, good=95)
    read_with(many, empty=202, malformed=0, good=498)
    assert (few.are_many, many.are_many) == (False, True)
    assert "skipped 5 rows, the first: a.csv, line 0" in few.sentence()
    assert "skipped 202 of 700 rows (29%)" in many.sentence()


def test_empty_cells_leave_no_more_room_for_malformed_rows() -> None:
    assert len(read_with(BadRows.of("few"), empty=40, malformed=5, good=55)) == 55
    with pytest.raises(TooManyBadRows, match=r"(?s)b\.csv, line 0.*6 of 100 rows.*malformed"):
        read_with(BadRows.of("few"), empty=40, malformed=6, good=54)
