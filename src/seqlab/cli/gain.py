"""seqlab gain: how much fine-tuning a run helps over training from scratch, by number of labels."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from seqlab.cli.console import answer, answer_json, quoted, suggest
from seqlab.cli.options import AsJson, Assignments, Data, Quiet, StartRun, TaskName
from seqlab.cli.seeds import announced, checked, name_of, silent, stopped_at
from seqlab.core.errors import UsageError, shortened

if TYPE_CHECKING:
    from seqlab.runs.transfer.transfer_gain import TransferGain

EXAMPLES = """\b
Examples:
  seqlab train texts.txt --task language_model --out runs/read
  seqlab gain reviews.csv --from runs/read
  seqlab gain reviews.csv --from runs/read --rows 50,all training.epochs=10
"""
ROWS = "100,1000,all"


def gain(
    what: Data,
    settings: Assignments = None,
    start_from: StartRun = "",
    rows: Annotated[
        str,
        typer.Option(
            metavar="NUMBER,NUMBER", help="Numbers of labeled rows to train on; `all` uses every row."
        ),
    ] = ROWS,
    task: TaskName = "",
    out: Annotated[
        str, typer.Option(metavar="FOLDER", help="Folder of the runs; runs/NAME-gain by default.")
    ] = "",
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Measure how much fine-tuning a run beats training from scratch.

    Both are trained on the same few and many labeled rows; a paired test says whether the gain is significant.
    """
    if not start_from:
        raise UsageError(
            "no run to fine-tune.",
            where="--from",
            cure="Pass a finished run, for example: seqlab gain reviews.csv --from runs/texts-lstm",
        )
    counts = _counts(rows)
    folder, gains = _measure(what, start_from, counts, settings or [], task=task, out=out, quiet=quiet)
    if as_json:
        return answer_json(
            {"folder": str(folder), "gains": [gain_of_size.as_json() for gain_of_size in gains]}
        )
    _show(gains, start_from)
    last = folder / f"{counts[-1] or 'all'}-learned"
    return suggest([f"seqlab evaluate {quoted(last)}"])


def _measure(
    what: str, start_from: str, counts: list[int], settings: list[str], *, task: str, out: str, quiet: bool
) -> tuple[Path, list[TransferGain]]:
    """Train with a progress display; the folder of the runs, and the gain of every number of rows."""
    recipe, name = checked(  # report mistakes before the first training
        what, settings, values={"start.run": start_from}, task=task, model=""
    )

    from seqlab.cli.progress import watch_training
    from seqlab.runs.train.start import Interrupted
    from seqlab.runs.transfer.transfer_gain import measure_gain

    folder = Path(out) if out else Path("runs") / f"{name_of(recipe, name)}-gain"
    try:
        return folder, measure_gain(
            what,
            start_from,
            counts,
            settings,
            folder=folder,
            task=task,
            watch=lambda: watch_training(quiet=quiet),
            begin=silent if quiet else announced,
        )
    except Interrupted as stopped:
        stopped_at(stopped.folder, stopped.step)


def _counts(rows: str) -> list[int]:
    """
    >>> _counts("100, 1000,all")
    [100, 1000, 0]
    """
    words = [word.strip() for word in rows.split(",") if word.strip()]
    wrong = [
        word
        for word in words
        if word != "all" and (not word.isascii() or not word.isdigit() or int(word) < 1)
    ]
    if wrong or not words:
        raise UsageError(
            f"'{shortened(wrong[0] if wrong else rows)}' is not a number of rows.",
            where="--rows",
            cure=f"Use positive whole numbers or `all`, for example: --rows {ROWS}",
        )
    return [0 if word == "all" else int(word) for word in words]


def _show(gains: list[TransferGain], start: str) -> None:
    answer(
        f"{'labels':>8}  {'from scratch':<28}  {'from ' + shortened(start, 40):<46}  gain in"
        f" {gains[0].new.name}"
    )
    for gain_of_size in gains:
        difference = gain_of_size.difference
        sure = "" if difference.is_significant else "  (not significant)"
        answer(
            f"{gain_of_size.called:>8}  {_interval(gain_of_size.new.value, gain_of_size.new.low, gain_of_size.new.high):<28}  "
            f"{_interval(gain_of_size.learned.value, gain_of_size.learned.low, gain_of_size.learned.high):<46}  "
            f"{_interval(difference.value, difference.low, difference.high, sign='+')}{sure}"
        )


def _interval(value: float, low: float | None, high: float | None, *, sign: str = "-") -> str:
    return (
        f"{value:{sign}.4f}"
        if low is None or high is None
        else f"{value:{sign}.4f} [{low:{sign}.4f}, {high:{sign}.4f}]"
    )
