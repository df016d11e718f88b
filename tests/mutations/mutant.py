"""One deliberate mistake."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Mutant:
    """A snippet of the source, what stands in its place, and the tests that should notice.

    A snippet is as short as it can be while it stands in the file exactly once, so that it is easy to follow when the code around it moves.
    """

    id: str
    file: str
    """Below src/seqlab."""
    old: str
    new: str
    tests: str
    """Arguments of pytest: files, and perhaps -k with an expression."""
    breaks: str
    """What is wrong with the mutated code."""
    survives_today: bool = False
    """Whether the tests do not notice it yet."""
    row: int | None = None
    """The row of the specification that is not proved as long as this one survives."""
