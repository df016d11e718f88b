"""Training progress in the terminal: a live line below a table of validations; plain lines without a terminal."""

from __future__ import annotations

import math
import time
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.live import Live
from rich.text import Text

from seqlab.cli.console import clean, say
from seqlab.cli.json_progress import JsonProgress
from seqlab.cli.meter import Meter, ProgressNumbers
from seqlab.cli.status_line import status_line
from seqlab.cli.streams import messages
from seqlab.cli.units import rate_text, value_text
from seqlab.cli.validation_table import BEST, ValidationTable, numbers_of
from seqlab.pages.numbers import format_duration
from seqlab.training.base import StepReport, Validation

SECONDS_BETWEEN_LINES = 10.0
MOST_STEP_LINES, MOST_VALIDATION_LINES = 20, 25
"""Approximate number of lines for a whole run, however long it is."""
SHORTEST_BAR, LONGEST_BAR = 6, 30
UPDATES_PER_SECOND = 8


def watch_training(*, quiet: bool = False) -> TerminalProgress | JsonProgress:
    """The progress display: JSON lines with `--progress json`."""
    return JsonProgress() if messages.are_json else TerminalProgress(quiet=quiet)


class TerminalProgress:
    """Shows every update in one live line on standard error; validations, up to about 25, leave a line above it."""

    def __init__(self, *, quiet: bool = False, console: Console | None = None) -> None:
        self._quiet = quiet
        self._console = console or Console(stderr=True)
        self._live: Live | None = None
        self._meter = Meter()
        self._epoch = 0
        self._started = self._last_line = time.monotonic()
        self._validations = _ThinnedValidations(MOST_VALIDATION_LINES)
        self._table = ValidationTable(self._console.width)

    def __enter__(self) -> Self:
        if self._console.is_terminal and not self._quiet:
            self._live = Live(console=self._console, transient=True, refresh_per_second=UPDATES_PER_SECOND)
            self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._live is not None:
            self._live.stop()

    def on_step(self, report: StepReport) -> None:
        self._validations.expect(report.step, report.total_steps)
        self._epoch = report.epoch
        reading = self._meter.step(report)
        if self._live is not None:
            self._live.update(live_text(reading, width=self._console.width))
        elif not self._quiet and self._is_line_due(report.seconds_left):
            self._last_line = time.monotonic()
            say(_step_text(reading))

    def _is_line_due(self, seconds_left: float) -> bool:
        now = time.monotonic()
        whole = now - self._started + seconds_left
        return now - self._last_line >= max(SECONDS_BETWEEN_LINES, whole / MOST_STEP_LINES)

    def on_validation(self, step: int, validation: Validation, *, is_best: bool) -> None:
        self._meter.validation(validation)
        if self._quiet or not self._validations.is_shown(step):
            return
        if self._live is None:
            numbers = "  ".join(
                f"{name} {value_text(value)}" for name, value in numbers_of(validation).items()
            )
            say(f"step {step:,}: {numbers}{'  (best so far)' if is_best else ''}")
            return
        for line in self._table.lines(step, self._epoch + 1, validation, is_best=is_best):
            self._console.print(_row_text(clean(line)), soft_wrap=True)


def _step_text(reading: ProgressNumbers) -> str:
    """One update on a line of its own; the rate is 0 until two updates are timed, and left out."""
    report, speed = reading.report, reading.steps_per_second
    return "  ".join(
        [
            f"step {report.step:,}/{report.total_steps:,}",
            f"epoch {report.epoch + 1}",
            f"loss {reading.loss:.4f}",
            *([rate_text(speed, "steps")] if speed else []),
            f"{format_duration(report.seconds_left)} left",
        ]
    )


def live_text(reading: ProgressNumbers, *, width: int) -> Text:
    """A bar as long as space allows, and the status."""
    status = status_line(reading, width=width - 1)
    space = min(LONGEST_BAR, width - len(status) - 3)
    if space < SHORTEST_BAR:
        return Text(status)
    full = round(space * reading.report.step / max(1, reading.report.total_steps))
    return Text.assemble(("━" * full, "green"), ("━" * (space - full), "bright_black"), f"  {status}")


def _row_text(line: str) -> Text:
    """A row of the table; the header is dim, the mark of the best is green."""
    text = Text(line)
    if line.lstrip().startswith("epoch"):
        text.stylize("dim")
    elif line.endswith(f" {BEST}"):
        text.stylize("bold green", len(line) - len(BEST))
    return text


class _ThinnedValidations:
    """Decides which validations to show: all of up to `most`, every other one of twice as many, …, and the last."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._seen = 0
        self._last_step = -1
        self._total_steps = 0

    def expect(self, step: int, total_steps: int) -> None:
        """Note an update of a run that plans `total_steps`; a resumed run does not start at the first."""
        if self._last_step < 0:
            self._last_step = step - 1
        self._total_steps = total_steps

    def is_shown(self, step: int) -> bool:
        planned = self._total_steps / max(1, step - self._last_step)
        self._last_step = step
        self._seen += 1
        return self._seen % max(1, math.ceil(planned / self._most)) == 0 or step >= self._total_steps
