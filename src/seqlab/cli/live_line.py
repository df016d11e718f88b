"""Training seen from a notebook, where standard error is no terminal: one line that is rewritten in place."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import Self

from seqlab.cli.console import clean, duration
from seqlab.training.base import StepReport, Validation

SECONDS_BETWEEN_UPDATES = 0.5


class LiveLine:
    """The last update and the last validation on one line."""

    def __init__(self) -> None:
        self._validation = ""
        self._width = 0
        self._last_update = 0.0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._width:
            sys.stderr.write("\n")

    def on_step(self, report: StepReport) -> None:
        now, is_last = time.monotonic(), report.step == report.total_steps
        if now - self._last_update < SECONDS_BETWEEN_UPDATES and not is_last:
            return
        self._last_update = now
        self._write(
            f"step {report.step:,}/{report.total_steps:,}  loss {report.loss:.4f}"
            f"  {duration(report.seconds_left)} left{self._validation}"
        )

    def on_validation(self, step: int, validation: Validation, *, is_best: bool) -> None:
        numbers = [
            f"{name.replace('_', ' ')} {value:.4f}"
            for name, value in validation.facts.items()
            if isinstance(value, float)
        ]
        self._validation = "".join(f"  {number}" for number in numbers)
        self._write(f"step {step:,}{self._validation}")

    def _write(self, line: str) -> None:
        """Spaces cover what a longer line before has left."""
        sys.stderr.write(f"\r{clean(line):<{self._width}}")
        sys.stderr.flush()
        self._width = len(line)
