"""One deliberate mistake."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Mutant:
    """A snippet of the source, its replacement, and the tests that should notice.

    A snippet is as short as it can be while it occurs exactly once. Whitespace and line breaks do not matter (`snippet.py`), so it survives a change of formatting.
    """

    id: str
    file: str
    """Below src/seqlab: a file (also one in C++), or a folder where code still moves from file to file."""
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
    native: bool = False
    """Whether the tests need the C++ kernels, which are then built in the copy of the project."""
