"""Cell options with a fixed set of allowed values."""

from __future__ import annotations

from typing import TypeVar

from seqlab.core.errors import UsageError

Choice = TypeVar("Choice", bound=str)


def check_choice(option: str, choice: Choice, allowed: tuple[str, ...]) -> Choice:
    """Return the value if it is allowed; otherwise raise an error.

    >>> check_choice("keep", "old", ("old", "new"))
    'old'
    """
    if choice not in allowed:
        raise UsageError(
            f"{option} is {choice!r}.", cure=f"It takes {' or '.join(repr(other) for other in allowed)}."
        )
    return choice
