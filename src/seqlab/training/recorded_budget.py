"""The recorded plan of a finished run: when it validated, how many steps it planned, and where it ended.

A time budget is replanned as the speed becomes known, and the learning rate follows the plan. The journal
records every change as an event `planned`, so that the run can be repeated later with the same updates.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypedDict

from seqlab.core.errors import RunError
from seqlab.training.budget import Budget
from seqlab.training.checkpoints.typed_state import read_state
from seqlab.training.journal import started_event

PLANNED = ("total_steps", "evaluate_every")
"""What changes when a time budget is replanned."""


class RecordedPlan(TypedDict):
    """One event `planned`: the update after which it happened, and whether that update was validated
    afterwards.
    """

    step: int
    total_steps: int
    evaluate_every: int
    before_validation: bool


@dataclass(frozen=True)
class RecordedBudget(Budget):
    """Follows the recorded plans of another run, regardless of the time."""

    plans: Sequence[RecordedPlan] = ()
    """The remaining changes, in order."""
    last_step: int = 0
    """The update after which the run ended."""

    def is_checked_early(self, *, step: int) -> bool:
        return bool(self.plans) and self.plans[0]["step"] == step and self.plans[0]["before_validation"]

    def adjusted(self, *, step: int, seconds: float) -> Budget:
        if not self.plans or self.plans[0]["step"] != step:
            return self
        plan, *later = self.plans
        return replace(
            self, total_steps=plan["total_steps"], evaluate_every=plan["evaluate_every"], plans=later
        )

    def is_spent(self, *, step: int, seconds: float) -> bool:
        return step >= self.last_step


def read_budget(state: Mapping[str, Any]) -> Budget:
    """Read the budget of a checkpoint, which is recorded if the run follows another one; raises ValueError for
    numbers that are none of a plan.
    """
    budget = read_state(RecordedBudget if "plans" in state else Budget, state)
    if min(budget.total_steps, budget.evaluate_every) < 1:
        raise ValueError(f"a plan of {budget.total_steps} steps, validated every {budget.evaluate_every}")
    return budget


def recorded_budget(events: Iterable[Mapping[str, Any]], *, where: str) -> RecordedBudget:
    """Read the plan of a finished run from the events of its journal."""
    events = list(events)
    started = started_event(events)
    finished = next((event for event in events if event["event"] == "finished"), None)
    if finished is None or "plan" not in started:
        raise RunError(
            "the journal does not record how the run was planned: it is unfinished, or from an earlier version.",
            where=where,
            cure="Train it from its recipe with this version: seqlab train RUN/recipe.toml",
        )
    plans = [
        RecordedPlan(
            step=event["step"],
            total_steps=event["total_steps"],
            evaluate_every=event["evaluate_every"],
            before_validation=event["before_validation"],
        )
        for event in events
        if event["event"] == "planned"
    ]
    return RecordedBudget(**started["plan"], plans=plans, last_step=finished["step"])


def plan_of(budget: Budget) -> dict[str, int]:
    """Return the part of a plan that the journal records when training starts."""
    names = (*PLANNED, "planned_steps", "validation_rows")
    return {name: getattr(budget, name) for name in names}
