"""Command-line options that change the decoding settings of a run, or make it part of an ensemble."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from seqlab.core.errors import UsageError

if TYPE_CHECKING:
    from seqlab.runs.run import Run


def with_options(
    run: Run, *, beam: int, decoding: Sequence[str], others: Sequence[str] = (), predicts: bool = False
) -> Run:
    """The run with `--beam K` and `--decoding NAME=VALUE`, in an ensemble with the runs of `--with`.

    predicts: whether the command is `predict`, in which a language model generates nothing.
    """
    from seqlab.recipes.overrides import read_assignments
    from seqlab.runs.decoding_names import check_decoding_names, reject_sampling_settings

    run = run.ensemble(*others) if others else run
    words = [word if word.startswith("decoding.") else f"decoding.{word}" for word in decoding]
    values = read_assignments(words, where="--decoding", example="--decoding temperature=1")
    settings = {name.removeprefix("decoding."): value for name, value in values.items()}
    for names, written in ((["beam"] if beam else [], "--beam"), (list(settings), "--decoding {}")):
        check_decoding_names(run.spec, names, written=written)
        if predicts:
            reject_sampling_settings(run.spec, names, written=written)
    return run.with_decoding(**settings, **({"beam": beam} if beam else {}))


def check_top(run: Run, top: int) -> None:
    """A search returns at most as many answers as it keeps."""
    if not run.spec.generates:
        return
    decoding = run.recipe.decoding
    most, more = (
        (decoding.samples, "--decoding samples=") if decoding.temperature else (decoding.beam, "--beam ")
    )
    if top > most:
        raise UsageError(
            f"--top {top} is more than the {most} answer{'s' if most > 1 else ''} that this search returns.",
            cure=f"Increase the search: {more}{top}",
        )
