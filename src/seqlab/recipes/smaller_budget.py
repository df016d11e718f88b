"""A smaller budget on top of a recipe: the recipe's step counts shrink with it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from seqlab.recipes.overrides import Raw
from seqlab.training.budget import scale_count
from seqlab.training.settings import STEP_COUNTS

BUDGETS = {"steps", "epochs", "minutes"}


def fit_to_budget(recipe: Raw, changed: Raw, names: Iterable[str]) -> Raw:
    """`changed` is a recipe in which some settings were set, by their dotted names. If these set the budget,
    step counts that only the recipe sets follow it.

    Fewer steps or epochs shrink them here. How many steps a time budget allows shows later: scale_with_budget
    tells the run what to shrink. A recipe with minutes of its own plans no number of steps, so its counts are
    taken as written.
    """
    before, after = _section(recipe), _section(changed)
    assigned = {name.removeprefix("training.") for name in names}
    if "scale_with_budget" in assigned or not BUDGETS & assigned:
        return changed
    named = before.get("scale_with_budget")
    relative = (named if isinstance(named, list) else []) if _number(before.get("minutes")) else STEP_COUNTS
    counts = [
        name
        for name in STEP_COUNTS
        if name in relative and name not in assigned and _number(before.get(name))
    ]
    if not counts or not any(_number(before.get(unit)) for unit in ("steps", "epochs")):
        return changed
    share = _share(before, after)
    shrunk = {name: scale_count(name, before[name], share) for name in counts}
    return {**changed, "training": {**after, **shrunk, "scale_with_budget": counts}}


def _section(raw: Raw) -> Raw:
    section = raw.get("training")
    return section if isinstance(section, dict) else {}


def _number(value: Any) -> float:
    """A positive number, or 0 for whatever else stands there: the check of the recipe will say what is wrong
    with it.
    """
    return value if isinstance(value, int | float) and not isinstance(value, bool) and value > 0 else 0


def _share(before: Raw, after: Raw) -> float:
    """How much is left of what the recipe plans in steps or, without them, in epochs."""
    unit = "steps" if _number(before.get("steps")) else "epochs"
    if unit == "epochs" and _number(after.get("steps")):
        return 1.0  # how many epochs that is shows once the data is read
    return min(1.0, (_number(after.get(unit)) or _number(before[unit])) / _number(before[unit]))
