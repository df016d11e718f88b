"""Training seen from the terminal: a bar with rate, loss and time left, or plain lines when nobody
watches.
"""

from __future__ import annotations

import math
import sys
import time
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn

from seqlab.cli.console import duration, say
from seqlab.cli.wrap import wrap_message
from seqlab.training.base import StepReport, Validation

SECONDS_BETWEEN_LINES = 10.0
MOST_STEP_LINES, MOST_VALIDATION_LINES = 20, 25
"""Lines of a whole run, about; a long one is not told at greater length."""
SMOOTHING = 0.95


class TerminalProgress:
    """Shows every update in one bar on standard error; validations, up to about 25, leave a line above it."""

    def __init__(self, *, quiet: bool = False) -> None:
        self._quiet = quiet
        self._bar: Progress | None = None
        self._loss = _Average()
        self._speed = _Speed()
        self._started = self._last_line = time.monotonic()
        self._validations = _Thinned(MOST_VALIDATION_LINES)

    def __enter__(self) -> Self:
        if sys.stderr.isatty() and not self._quiet:
            self._bar = Progress(
                TextColumn("{task.description}"),
                BarColumn(),
                TextColumn("{task.fields[status]}"),
                console=Console(stderr=True),
                transient=True,
            )
            self._bar.start()
            self._task = self._bar.add_task("training", total=None, status="")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()

    def on_step(self, report: StepReport) -> None:
        self._validations.expect(report.step, report.total_steps)
        rate = self._speed.count()
        status = (
            f"loss {self._loss.add(report.loss):.4f}  {rate:.1f} steps/s  {duration(report.seconds_left)}"
            " left"
        )
        if self._bar is not None:
            self._bar.update(
                self._task,
                completed=report.step,
                total=report.total_steps,
                status=f"{report.step:,}/{report.total_steps:,}  {status}",
            )
        elif not self._quiet and self._is_line_due(report.seconds_left):
            self._last_line = time.monotonic()
            say(f"step {report.step:,}/{report.total_steps:,}  epoch {report.epoch + 1}  {status}")

    def _is_line_due(self, seconds_left: float) -> bool:
        now = time.monotonic()
        whole = now - self._started + seconds_left
        return now - self._last_line >= max(SECONDS_BETWEEN_LINES, whole / MOST_STEP_LINES)

    def on_validation(self, step: int, validation: Validation, *, is_best: bool) -> None:
        if self._quiet or not self._validations.is_shown(step):
            return
        numbers = "  ".join(
            f"{name.replace('_', ' ')} {value:.4f}"
            for name, value in validation.facts.items()
            if isinstance(value, float)
        )
        line = f"step {step:,}: {numbers}{'  (best so far)' if is_best else ''}"
        if self._bar is not None:
            self._bar.console.print(wrap_message(line), highlight=False, markup=False, soft_wrap=True)
        else:
            say(line)


class _Thinned:
    """Which of many validations are shown: all of up to `most`, every second of twice as many, …, the last."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._seen = 0
        self._last_step = -1
        self._total_steps = 0

    def expect(self, step: int, total_steps: int) -> None:
        """An update of a run that plans `total_steps`; a resumed run does not start with the first."""
        if self._last_step < 0:
            self._last_step = step - 1
        self._total_steps = total_steps

    def is_shown(self, step: int) -> bool:
        planned = self._total_steps / max(1, step - self._last_step)
        self._last_step = step
        self._seen += 1
        return self._seen % max(1, math.ceil(planned / self._most)) == 0 or step >= self._total_steps


class _Average:
    """A mean that forgets slowly, and in which the first values do not weigh more than the later ones."""

    def __init__(self) -> None:
        self._sum = 0.0
        self._weight = 0.0

    def add(self, value: float) -> float:
        self._sum = SMOOTHING * self._sum + value
        self._weight = SMOOTHING * self._weight + 1
        return self._sum / self._weight


class _Speed:
    """Updates per second over the last moments."""

    def __init__(self) -> None:
        self._times: list[float] = []

    def count(self) -> float:
        self._times = [*self._times[-50:], time.monotonic()]
        return (len(self._times) - 1) / max(self._times[-1] - self._times[0], 1e-9)
