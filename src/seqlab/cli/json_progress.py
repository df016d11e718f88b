"""Training progress as JSON lines on standard error: one object per update (at most one per second) and per
validation.
"""

from __future__ import annotations

import math
import time
from types import TracebackType
from typing import Any, Self

from seqlab.cli.meter import Meter
from seqlab.cli.streams import messages
from seqlab.training.base import StepReport, Validation

SECONDS_BETWEEN_LINES = 1.0


class JsonProgress:
    """Every message on standard error is a JSON object with a field `event`: step, validation, message or
    warning."""

    def __init__(self) -> None:
        self._meter = Meter()
        self._last_line = -math.inf

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...

    def on_step(self, report: StepReport) -> None:
        reading, now = self._meter.step(report), time.monotonic()
        is_last = report.step == report.total_steps
        if now - self._last_line < SECONDS_BETWEEN_LINES and not is_last:
            return
        self._last_line = now
        messages.write_event(
            "step",
            step=report.step,
            total_steps=report.total_steps,
            epoch=report.epoch,
            loss=report.loss,
            smoothed_loss=reading.loss,
            learning_rate=report.rate,
            steps_per_second=reading.steps_per_second or None,
            sequences_per_second=reading.sequences_per_second or None,
            tokens_per_second=reading.tokens_per_second or None,
            seconds_left=report.seconds_left or (0.0 if is_last else None),  # unknown at first
            peak_memory=reading.memory,
        )

    def on_validation(self, step: int, validation: Validation, *, is_best: bool) -> None:
        self._meter.validation(validation)
        facts: dict[str, Any] = {
            name: value for name, value in validation.facts.items() if isinstance(value, int | float)
        }
        messages.write_event("validation", step=step, best=is_best, **facts)
