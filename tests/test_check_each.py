"""A check of many things names every one that fails."""

from __future__ import annotations

import pytest

from tests.check_each import check_each


def is_even(number: int) -> None:
    assert number % 2 == 0, f"{number} is odd"


def test_all_failures_are_listed_with_their_names() -> None:
    with pytest.raises(pytest.fail.Exception) as caught:
        check_each([2, 3, 4, 5], is_even, name=lambda number: f"number {number}")
    first, *rest = str(caught.value).splitlines()
    assert "2 of 4" in first
    assert [line.partition(":")[0] for line in rest if line.startswith("number")] == ["number 3", "number 5"]


def test_an_error_in_a_check_is_a_failure_and_the_others_are_checked_all_the_same() -> None:
    with pytest.raises(pytest.fail.Exception, match=r"(?s)0: ZeroDivisionError.*2: AssertionError"):
        check_each([0, 1, 2], lambda number: is_even(6 // number))


def test_what_passes_is_silent_and_a_check_of_nothing_is_a_mistake() -> None:
    check_each([2, 4], is_even)
    with pytest.raises(AssertionError, match="nothing to check"):
        check_each([], is_even)
