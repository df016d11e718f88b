"""The progress of a run: the numbers in a checkpoint."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from seqlab.training.averaging import Weights
from seqlab.training.checkpoints.typed_state import read_state


@dataclass
class Tally:
    """Training loss and correct predictions, summed since the last line of the journal."""

    total: float = 0.0
    count: float = 0
    correct: int | None = 0
    seen: int = 0

    def add(self, total: float, count: float, correct: int | None, *, seen: int) -> None:
        self.total += total
        self.count += count
        self.correct = None if correct is None or self.correct is None else self.correct + correct
        self.seen += seen

    @property
    def mean(self) -> float:
        return self.total / self.count if self.count else 0.0

    @property
    def accuracy(self) -> float | None:
        return None if self.correct is None else self.correct / max(1, self.seen)


@dataclass
class Progress:
    """Updates made, time used, and the best validation so far."""

    step: int = 0
    seconds: float = 0.0
    best_value: float | None = None
    best_loss: float | None = None
    best_step: int = 0
    best_weights: Weights = "last"
    candidates: dict[Weights, float] = field(default_factory=dict)
    """The validation scores of averaged and last weights at the best step, if the run averages."""
    validations_without_best: int = 0
    since_log: Tally = field(default_factory=Tally)
    since_validation: Tally = field(default_factory=Tally)

    @classmethod
    def from_json(cls, raw: dict[str, Any]) -> Progress:
        tallies = {name: read_state(Tally, raw[name]) for name in ("since_log", "since_validation")}
        return read_state(cls, {**raw, **tallies})
