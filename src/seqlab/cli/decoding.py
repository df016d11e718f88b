"""Other decoding settings for a run, or an ensemble with other runs, by options of the command line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from seqlab.core.errors import UsageError

if TYPE_CHECKING:
    from seqlab.runs.run import Run


def with_options(run: Run, *, beam: int, decoding: Sequence[str], others: Sequence[str] = ()) -> Run:
    """The run with `--beam K` and `--decoding NAME=VALUE`, as an ensemble with the runs of `--with`."""
    from seqlab.recipes.overrides import read_assignments

    run = run.ensemble(*others) if others else run
    words = [word if word.startswith("decoding.") else f"decoding.{word}" for word in decoding]
    values = read_assignments(words, where="--decoding", example="--decoding temperature=1")
    if beam:
        values["decoding.beam"] = beam
    return run.with_decoding(**{name.removeprefix("decoding."): value for name, value in values.items()})


def check_top(run: Run, top: int) -> None:
    """A search gives no more answers than it keeps."""
    from seqlab.tasks.spec import find_spec

    if not find_spec(run.recipe.task).generates:
        return
    decoding = run.recipe.decoding
    most, more = (
        (decoding.samples, "--decoding samples=") if decoding.temperature else (decoding.beam, "--beam ")
    )
    if top > most:
        raise UsageError(
            f"--top {top} asks for more than this search gives, which is {most} answer{'s' if most > 1 else ''}.",
            cure=f"Ask for more: {more}{top}",
        )
