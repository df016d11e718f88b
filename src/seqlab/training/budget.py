"""How many updates a run makes, and when it validates."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from seqlab.training.settings import TrainingSettings

DEFAULT_MINUTES, DEFAULT_EPOCHS, DEFAULT_PATIENCE = 5.0, 30.0, 6
"""What ends a run for which nobody said anything: whichever comes first."""
FEWEST_BETWEEN = 25
"""Updates between two validations, at least, when nobody says otherwise."""
SHARE_FOR_VALIDATION = 0.1
"""Under a time budget, validation may take this share of the time."""


@dataclass(frozen=True)
class Budget:
    """The plan of a run. A time budget becomes steps, and is planned again at every validation as the speed shows."""

    total_steps: int
    evaluate_every: int
    seconds: float | None = None
    """Time that training and validating may take; None is without limit."""
    most_steps: int | None = None
    """Steps that are enough even if there is time for more; None is without limit."""

    @classmethod
    def plan(cls, settings: TrainingSettings, *, steps_per_epoch: int, step_seconds: float, validation_seconds: float) -> Budget:
        asked = settings.steps or math.ceil(settings.epochs * steps_per_epoch) or None
        seconds = settings.minutes * 60 or (None if asked else DEFAULT_MINUTES * 60)
        if seconds is None:
            assert asked is not None
            return cls(asked, settings.evaluate_every or _every(asked, steps_per_epoch), most_steps=asked)
        possible = max(1, int(seconds * (1 - SHARE_FOR_VALIDATION) / step_seconds))
        total = min(possible, asked or possible)
        affordable = max(1, int(seconds * SHARE_FOR_VALIDATION / max(validation_seconds, 1e-6)))
        every = settings.evaluate_every or max(_every(total, steps_per_epoch), math.ceil(total / affordable))
        return cls(total, every, seconds=seconds, most_steps=asked)

    def adjusted(self, *, step: int, seconds: float) -> Budget:
        """The same budget after `step` updates in `seconds`, validations included: as many steps as the time left allows."""
        if self.seconds is None or not step:
            return self
        possible = step + max(0, int((self.seconds - seconds) * step / max(seconds, 1e-6)))
        return replace(self, total_steps=min(possible, self.most_steps or possible))

    def is_spent(self, *, step: int, seconds: float) -> bool:
        return step >= self.total_steps or seconds >= (self.seconds or math.inf)

    def seconds_left(self, *, step: int, seconds: float, step_seconds: float) -> float:
        """About how long it still takes, at `step_seconds` for an update with its share of the validations."""
        by_steps = (self.total_steps - step) * step_seconds
        return by_steps if self.seconds is None else max(0.0, min(by_steps, self.seconds - seconds))


def _every(total: int, steps_per_epoch: int) -> int:
    """Every epoch and at least ten times in a run, but not so often that a short run does little else."""
    return max(1, min(steps_per_epoch, math.ceil(total / 10)), min(FEWEST_BETWEEN, total))
