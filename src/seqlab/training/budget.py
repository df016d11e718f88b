"""The budget of a run: how many updates it makes, when it validates, and how step counts shrink in a
shorter run.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from seqlab.training.settings import TrainingSettings

DEFAULT_MINUTES, DEFAULT_EPOCHS = 5.0, 30.0
"""The budget of a run for which none is set; early stopping may end it sooner."""
SHARE_FOR_PATIENCE, LEAST_PATIENCE = 0.25, 5
"""Default early stopping: this share of the planned validations without a new best, and at least this many."""
FEWEST_VALIDATIONS, MOST_VALIDATIONS = 10, 50
"""Default number of validations in a run: one per epoch, within these limits."""
SHARE_FOR_VALIDATION = 0.1
"""Under a time budget, validation may take this share of the time."""
MOST_FOR_VALIDATION = 0.5
"""A single validation may take longer, but at most this share of the time is reserved for it."""
LEAST_FOR_TRAINING = 0.1
"""Training gets at least this share of a time budget, no matter how long reading and scoring take."""
MOST_FOR_SCORING = 0.3
"""At most this share of the time left after reading is reserved for scoring; if it is not enough, a sample
of the rows is scored.
"""
FIRST_CHECK = 8
"""Under a time budget, the plan is first checked against the measured speed after this many updates."""


@dataclass(frozen=True)
class Budget:
    """The plan of a run.

    A time budget is converted to steps, and replanned early in the run and at every validation, as the
    speed becomes known.
    """

    total_steps: int
    evaluate_every: int
    seconds: float | None = None
    """Time from the start of the command until the report is written; None for no limit."""
    before: float = 0.0
    """Seconds used before the first update: reading, encoding, measuring."""
    after: float = 0.0
    """Seconds that scoring and the report are expected to take."""
    most_steps: int | None = None
    """Maximum number of steps, even if there is time for more; None for no limit."""
    planned_steps: int = 0
    """Steps that the recipe plans, to which its step counts refer; 0 if it sets only a time."""
    validation_seconds: float = 0.0
    """Time reserved for the last validation of a time budget."""
    validation_rows: int = 0
    """Validation rows, or characters of a text, used by validations during training; 0 for all of them."""
    validations: int = 0
    """Number of validations in the whole run, from which evaluate_every is recomputed when a time budget is
    replanned; 0 leaves evaluate_every unchanged.
    """

    @classmethod
    def plan(
        cls,
        settings: TrainingSettings,
        *,
        steps_per_epoch: int,
        step_seconds: float,
        validation_seconds: float,
        before: float = 0.0,
        after: float = 0.0,
        validation_rows: int = 0,
    ) -> Budget:
        in_epochs = math.ceil(settings.epochs * steps_per_epoch)
        asked = settings.steps or in_epochs or None
        seconds = settings.minutes * 60 or (None if asked else DEFAULT_MINUTES * 60)
        budget = cls(
            asked or 1,
            1,
            most_steps=asked,
            planned_steps=max(settings.steps, in_epochs),
            validation_rows=validation_rows,
        )
        if seconds is not None:
            budget = replace(budget, seconds=seconds).timed(before=before, after=after)
            training = budget.training_seconds
            validation = min(validation_seconds, training * MOST_FOR_VALIDATION)
            budget = replace(budget, validation_seconds=validation)
            possible = max(1, int((training - budget.reserve) / step_seconds))
            budget = replace(budget, total_steps=min(possible, asked or possible))
        return _with_interval(budget, settings, steps_per_epoch=steps_per_epoch)

    @property
    def share(self) -> float:
        """The share of the recipe's planned steps that this run makes, at most 1."""
        return min(1.0, self.total_steps / self.planned_steps) if self.planned_steps else 1.0

    def timed(self, *, before: float, after: float) -> Budget:
        """Return the budget with the time used before training and the time expected after it."""
        if self.seconds is None:
            return self
        return replace(
            self, before=before, after=min(after, max(0.0, self.seconds - before) * MOST_FOR_SCORING)
        )

    @property
    def training_seconds(self) -> float:
        """Time left for training and validation; infinite without a limit."""
        if self.seconds is None:
            return math.inf
        return max(self.seconds - self.before - self.after, self.seconds * LEAST_FOR_TRAINING)

    def scoring_seconds(self, *, seconds: float) -> float:
        """Return the time left for scoring after training took `seconds`; infinite without a limit."""
        return math.inf if self.seconds is None else self.seconds - self.before - seconds

    @property
    def reserve(self) -> float:
        """Seconds of the training time reserved for validation."""
        return max(self.training_seconds * SHARE_FOR_VALIDATION, self.validation_seconds)

    def patience(self, asked: int) -> int:
        """Return the number of validations without a new best after which the run ends; 0 for never.

        asked: `training.patience`; -1 derives it from the plan.
        """
        if asked >= 0:
            return asked
        planned = math.ceil(self.total_steps / self.evaluate_every)
        return max(LEAST_PATIENCE, math.ceil(planned * SHARE_FOR_PATIENCE))

    def is_checked_early(self, *, step: int) -> bool:
        """Whether to replan before the first validation: after 8, 16, 32, … updates."""
        return (
            self.seconds is not None and FIRST_CHECK <= step < self.evaluate_every and step.bit_count() == 1
        )

    def adjusted(self, *, step: int, seconds: float) -> Budget:
        """Return the budget with as many steps as the remaining time allows, given `step` updates (and
        their validations) in `seconds`.
        """
        if self.seconds is None or not step:
            return self
        is_early = step < self.evaluate_every  # no validation is in `seconds` yet
        left = self.training_seconds - seconds - (self.reserve if is_early else 0.0)
        possible = step + max(0, int(left * step / max(seconds, 1e-6)))
        if step >= self.total_steps and possible < step + self.evaluate_every:
            possible = step  # time for less than one more interval with its validation
        total = min(possible, self.most_steps or possible)
        every = self.evaluate_every
        if is_early and self.validations:
            every = max(min(every, FEWEST_BETWEEN), math.ceil(total / self.validations))
        return replace(self, total_steps=total, evaluate_every=every)

    def is_spent(self, *, step: int, seconds: float) -> bool:
        """Whether the run ends here: at its last step, or when the time left is just enough for a validation.

        At least one update is always made.
        """
        return step >= self.total_steps or (
            step > 0 and seconds + self.validation_seconds >= self.training_seconds
        )

    def seconds_left(self, *, step: int, seconds: float, step_seconds: float) -> float:
        """Estimate the remaining time, at `step_seconds` per update including its share of the validations."""
        by_steps = (self.total_steps - step) * step_seconds
        return max(0.0, min(by_steps, self.training_seconds - seconds))


def _with_interval(budget: Budget, settings: TrainingSettings, *, steps_per_epoch: int) -> Budget:
    """Decide how often to validate: as set, or in proportion to the plan so that validation takes little of
    the time.
    """
    written = settings.evaluate_every
    if written and "evaluate_every" not in settings.scale_with_budget:
        return replace(budget, evaluate_every=written)
    every = scale_counts(settings, budget.share).evaluate_every or _every(budget.total_steps, steps_per_epoch)
    if budget.seconds is None:
        return replace(budget, evaluate_every=every)
    most_validations = max(
        1, int(budget.training_seconds * SHARE_FOR_VALIDATION / max(budget.validation_seconds, 1e-6))
    )
    affordable = math.ceil(budget.total_steps / most_validations)
    every = max(every, min(written or affordable, affordable))
    return replace(budget, evaluate_every=every, validations=math.ceil(budget.total_steps / every))


def _every(total: int, steps_per_epoch: int) -> int:
    """Validate every epoch, 10 to 50 times in a run, but not so often that a short run does little else."""
    longest, shortest = math.ceil(total / FEWEST_VALIDATIONS), math.ceil(total / MOST_VALIDATIONS)
    return max(1, shortest, min(steps_per_epoch, longest), min(FEWEST_BETWEEN, total))


FEWEST_BETWEEN = 25
"""Minimum number of updates between two validations, unless a recipe or the user asks for fewer."""


def scale_counts(settings: TrainingSettings, share: float) -> TrainingSettings:
    """Scale the settings in scale_with_budget to a run that makes this share of the planned updates."""
    if share >= 1 or not settings.scale_with_budget:
        return settings
    return settings.model_copy(
        update={
            name: scale_count(name, getattr(settings, name), share) for name in settings.scale_with_budget
        }
    )


def scale_count(name: str, value: float, share: float) -> float:
    """Scale one step count to a run of this share of the planned length. 0 and -1 stay, because they already
    follow the length of the run.

    A moving average with decay d spans about 1 / (1 - d) updates; this span is what shrinks.

    >>> scale_count("average_every", 100, 0.25), scale_count("ema_decay", 0.99, 0.5)
    (25, 0.98)
    """
    if value <= 0:
        return value
    if name == "ema_decay":
        return max(0.0, 1 - (1 - value) / share)
    fewest = min(value, FEWEST_BETWEEN) if name == "evaluate_every" else 1
    return int(max(fewest, round(value * share)))
