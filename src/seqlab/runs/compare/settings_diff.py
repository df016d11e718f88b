"""Find the settings in which compared runs differ."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from seqlab.core.errors import shortened
from seqlab.recipes.problems import format_value
from seqlab.recipes.recipe import Recipe

NOT_SETTINGS = frozenset({"format", "start.digest", "distillation.digest"})
"""Values that a recipe records but users do not set."""
ABSENT = "–"
"""Shown for a setting that a model does not have."""
LONGEST_VALUE = 40


def settings_diff(recipes: Mapping[str, Recipe]) -> list[dict[str, str]]:
    """Return one row for each setting that differs: its dotted name, then the value of each run. Settings
    that all runs have come first, because those were changed on purpose.
    """
    values = {name: _flat(recipe.model_dump()) for name, recipe in recipes.items()}
    settings = list(dict.fromkeys(setting for by_setting in values.values() for setting in by_setting))
    rows = []
    for setting in settings:
        cells = {name: by_setting.get(setting, ABSENT) for name, by_setting in values.items()}
        if setting not in NOT_SETTINGS and len(set(cells.values())) > 1:
            rows.append({"setting": setting, **cells})
    return sorted(rows, key=lambda row: ABSENT in row.values())


def _flat(section: Mapping[str, Any], prefix: str = "") -> dict[str, str]:
    """
    >>> _flat({"task": "tagging", "model": {"layers": 2, "cell": {"kind": "gru"}}})
    {'task': 'tagging', 'model.layers': '2', 'model.cell.kind': 'gru'}
    """
    flat: dict[str, str] = {}
    for name, value in section.items():
        if isinstance(value, Mapping):
            flat |= _flat(value, f"{prefix}{name}.")
        else:
            flat[f"{prefix}{name}"] = _shown(value)
    return flat


def _shown(value: Any) -> str:
    if isinstance(value, str):
        return shortened(value, LONGEST_VALUE) or "''"
    return shortened(format_value(list(value) if isinstance(value, Sequence) else value), LONGEST_VALUE)
