"""Another search for a run that translates, by options of the command line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from seqlab.runs.run import Run


def searching(run: Run, *, beam: int, search: Sequence[str]) -> Run:
    """The run with `--beam K` and `--search NAME=VALUE`, or as it is where nothing is asked."""
    words = [*([f"beam={beam}"] if beam else []), *search]
    return run.searching(*words) if words else run
