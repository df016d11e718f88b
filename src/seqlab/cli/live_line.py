"""Training progress in a notebook, whose standard error is not a terminal: one line, rewritten in place."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import Self

from seqlab.cli.console import clean
from seqlab.cli.meter import Meter
from seqlab.cli.status_line import status_line
from seqlab.cli.units import value_text
from seqlab.cli.validation_table import numbers_of
from seqlab.training.base import StepReport, Validation

SECONDS_BETWEEN_UPDATES = 0.5
LONGEST_LINE = 120


class LiveLine:
    """The last update and the last validation on one line."""

    def __init__(self) -> None:
        self._meter = Meter()
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
        reading = self._meter.step(report)
        now, is_last = time.monotonic(), report.step == report.total_steps
        if now - self._last_update < SECONDS_BETWEEN_UPDATES and not is_last:
            return
        self._last_update = now
        self._write(f"step {status_line(reading, width=LONGEST_LINE)}")

    def on_validation(self, step: int, validation: Validation, *, is_best: bool) -> None:
        self._meter.validation(validation)
        numbers = [f"  {name} {value_text(value)}" for name, value in numbers_of(validation).items()]
        self._write(f"step {step:,}{''.join(numbers)}")

    def _write(self, line: str) -> None:
        """Pad with spaces to erase the rest of a longer previous line."""
        sys.stderr.write(f"\r{clean(line):<{self._width}}")
        sys.stderr.flush()
        self._width = len(line)
