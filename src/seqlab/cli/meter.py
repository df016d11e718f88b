"""Running numbers for progress displays: smoothed loss, rates, memory and the last validation metric."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

from seqlab.core.memory import peak_memory
from seqlab.training.base import StepReport, Validation

SMOOTHING = 0.95
RECENT = 50
"""Number of updates over which rates are measured."""


@dataclass(frozen=True)
class ProgressNumbers:
    """One update as displays show it. A text stream has no sequences."""

    report: StepReport
    loss: float
    steps_per_second: float
    sequences_per_second: float
    tokens_per_second: float
    memory: int | None
    """Peak memory of the process in bytes."""
    metric: tuple[str, float] | None
    """Name and value of the metric that selects the best weights, at the last validation."""


class Meter:
    """Tracks training from update to update."""

    def __init__(self) -> None:
        self._loss = _Average()
        self._recent: deque[tuple[float, int, int]] = deque(maxlen=RECENT + 1)
        self._metric: tuple[str, float] | None = None

    def step(self, report: StepReport) -> ProgressNumbers:
        self._recent.append((time.monotonic(), report.sequences, report.tokens))
        seconds = max(self._recent[-1][0] - self._recent[0][0], 1e-9)
        made = list(self._recent)[1:]  # the first only marks the start
        return ProgressNumbers(
            report,
            loss=self._loss.add(report.loss),
            steps_per_second=len(made) / seconds,
            sequences_per_second=_sequences(made) / seconds,
            tokens_per_second=sum(tokens for _, _, tokens in made) / seconds,
            memory=peak_memory(),
            metric=self._metric,
        )

    def validation(self, validation: Validation) -> None:
        """Keep the metric that selects the best weights; rates exclude the time of validation."""
        names = [name for name, value in validation.facts.items() if value == validation.value]
        self._metric = (names[0] if names else "validation", validation.value)
        self._recent.clear()


def _sequences(updates: Sequence[tuple[float, int, int]]) -> int:
    """0 if any update has none: text streams are not made of sequences."""
    counts = [sequences for _, sequences, _ in updates]
    return sum(counts) if all(counts) else 0


class _Average:
    """Exponential moving average with bias correction."""

    def __init__(self) -> None:
        self._sum = 0.0
        self._weight = 0.0

    def add(self, value: float) -> float:
        self._sum = SMOOTHING * self._sum + value
        self._weight = SMOOTHING * self._weight + 1
        return self._sum / self._weight
