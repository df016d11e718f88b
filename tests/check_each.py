"""One test over many things that reports every failure, not only the first one."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

import pytest

Thing = TypeVar("Thing")


def check_each(
    things: Iterable[Thing], check: Callable[[Thing], None], *, name: Callable[[Thing], str] = str
) -> None:
    """Call `check` on each thing and fail with the name and the message of all that did not pass.

    A test per thing would say the same, but hundreds of cheap tests cost more to collect and report than to
    run.
    """
    failures, count = [], 0
    for thing in things:
        count += 1
        try:
            check(thing)
        except Exception as error:  # noqa: BLE001 - whatever it is, it is listed
            failures.append(f"{name(thing)}: {type(error).__name__}: {error}")
    assert count, "nothing to check"
    if failures:
        pytest.fail("\n".join([f"{len(failures)} of {count} failed:", *failures]), pytrace=False)
