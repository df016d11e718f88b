"""How many updates a run makes, and when it validates."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from seqlab.training.settings import TrainingSettings

DEFAULT_MINUTES = 5.0
SHARE_FOR_VALIDATION = 0.1
"""Under a time budget, validation may take this share of the time."""


@dataclass(frozen=True)
class Budget:
    """The plan of a run. A time budget becomes steps, and is planned again at every validation as the speed shows."""

    total_steps: int
    evaluate_every: int
    seconds: float = math.inf

    @classmethod
    def plan(cls, settings: TrainingSettings, *, steps_per_epoch: int, step_seconds: float, validation_seconds: float) -> Budget:
        seconds = settings.minutes * 60 or math.inf
        wanted = settings.steps or math.ceil(settings.epochs * steps_per_epoch)
        if seconds is math.inf:
            return cls(total_steps=wanted, evaluate_every=settings.evaluate_every or _every(wanted, steps_per_epoch))
        possible = max(1, int(seconds * (1 - SHARE_FOR_VALIDATION) / step_seconds))
        total = min(wanted, possible) if wanted else possible
        affordable = max(1, int(seconds * SHARE_FOR_VALIDATION / max(validation_seconds, 1e-6)))
        every = settings.evaluate_every or max(_every(total, steps_per_epoch), math.ceil(total / affordable))
        return cls(total_steps=total, evaluate_every=every, seconds=seconds)

    def adjusted(self, *, step: int, seconds: float, wanted: int) -> Budget:
        """The same budget after `step` updates in `seconds`, validations included: as many steps as the time left allows."""
        if self.seconds is math.inf or not step:
            return self
        possible = step + max(0, int((self.seconds - seconds) * step / max(seconds, 1e-6)))
        return replace(self, total_steps=min(wanted, possible) if wanted else possible)


def _every(total: int, steps_per_epoch: int) -> int:
    """Every epoch, and at least ten times in a run."""
    return max(1, min(steps_per_epoch, math.ceil(total / 10)))
