"""KEY=VALUE words and `--model NAME` on top of a recipe."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from typing import Any, Literal, get_args, get_origin

from seqlab.core.errors import UsageError, nearest, shortened
from seqlab.models.settings import SHORT_NAMES
from seqlab.recipes.recipe import SECTIONS, Recipe

Raw = dict[str, Any]
ALWAYS_NEW = {key for settings in SHORT_NAMES.values() for key in settings}
"""What a short name decides, also where it does not mention it: `lstm` after `bilstm` reads in one direction."""


def override(raw: Raw, assignments: Iterable[str], *, model: str = "") -> Raw:
    """Apply `--model NAME` and `section.name=value` words on top of a recipe, which stays as it was."""
    changed = {name: dict(value) if isinstance(value, dict) else value for name, value in raw.items()}
    if model:
        changed["model"] = short_model(model, before=changed.get("model"))
    for assignment in assignments:
        _assign(changed, assignment)
    return changed


def short_model(name: str, *, before: Any = None) -> Raw:
    """The settings that a short name stands for. Sizes already chosen for the same kind of network stay."""
    if name not in SHORT_NAMES:
        raise UsageError(f"there is no model called '{shortened(name)}'.", where="--model", cure=nearest(name, SHORT_NAMES))
    chosen = SHORT_NAMES[name]
    if isinstance(before, dict) and before.get("kind", "recurrent") == chosen["kind"]:
        return {key: value for key, value in before.items() if key not in ALWAYS_NEW} | chosen
    return dict(chosen)


def _assign(changed: Raw, assignment: str) -> None:
    name, equals, text = assignment.partition("=")
    name = name.strip()
    section, dot, key = name.partition(".")
    if not equals or not section or (dot and not key):
        raise UsageError(
            f"'{shortened(assignment)}' is not of the form KEY=VALUE.",
            cure="For example: training.steps=500. A file or folder comes first, and one is enough.",
        )
    if not dot:
        changed[section] = short_model(text) if section == "model" and text in SHORT_NAMES else _value(text, annotation=_annotation(Recipe, section))
        return
    place = changed.setdefault(section, {})
    if not isinstance(place, dict):
        raise UsageError(f"'{section}' is one setting and has no part '{shortened(key)}'.", cure=f"For example: {section}={place}")
    kinds = SECTIONS.get(section, ())
    place[key] = _value(text, annotation=next((found for kind in kinds if (found := _annotation(kind, key)) is not None), None))


def _annotation(settings: Any, name: str) -> Any:
    field = settings.model_fields.get(name)
    return None if field is None else field.annotation


def _value(text: str, *, annotation: Any) -> Any:
    """A word as the setting wants it: text stays as it stands (a column may be called 2024), lists may be written a,b."""
    if annotation is str or get_origin(annotation) is Literal:
        quoted = _toml(text)
        return quoted if isinstance(quoted, str) else {r"\t": "\t"}.get(text, text)
    if get_origin(annotation) is tuple and get_args(annotation)[:1] == (str,):
        listed = _toml(text)
        return listed if isinstance(listed, list) else [listed] if isinstance(listed, str) else _names(text)
    read = _toml(text)
    return text if read is None else read


def _names(text: str) -> list[str]:
    """
    >>> _names("open, close,"), _names("")
    (['open', 'close'], [])
    """
    return [name.strip() for name in text.split(",") if name.strip()]


def _toml(text: str) -> Any:
    """What TOML reads in a value, or None when it is not one value of TOML."""
    try:
        read = tomllib.loads(f"value = {text}")
    except (tomllib.TOMLDecodeError, RecursionError, ValueError):
        return None
    return read["value"] if len(read) == 1 else None
