"""Another search for a run that translates, or others that write with it, by options of the command line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from seqlab.core.errors import UsageError, shortened

if TYPE_CHECKING:
    from seqlab.runs.run import Run


def searching(run: Run, *, beam: int, search: Sequence[str], others: Sequence[str] = ()) -> Run:
    """The run with `--beam K` and `--search NAME=VALUE`, together with the runs of `--with`, or as it is
    where nothing is asked.
    """
    run = run.together(*others) if others else run
    if bare := [word for word in search if "=" not in word]:
        raise UsageError(
            f"'{shortened(bare[0])}' is not of the form NAME=VALUE.",
            where="--search",
            cure="For example: --search temperature=1",
        )
    words = [*([f"beam={beam}"] if beam else []), *(word.removeprefix("search.") for word in search)]
    return run.searching(*words) if words else run


def check_top(run: Run, top: int) -> None:
    """A search gives no more answers than it keeps."""
    from seqlab.tasks.spec import find_spec

    if not find_spec(run.recipe.task).generates:
        return
    search = run.recipe.search
    most, more = (search.samples, "--search samples=") if search.temperature else (search.beam, "--beam ")
    if top > most:
        gives = f"{most} answer{'s' if most > 1 else ''}"
        raise UsageError(
            f"--top {top} asks for more than this search gives, which is {gives}.",
            cure=f"Ask for more: {more}{top}",
        )
