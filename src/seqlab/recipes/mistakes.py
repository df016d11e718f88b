"""What is wrong with a recipe, in plain words: the name of the setting, what it takes, what was found."""

from __future__ import annotations

from typing import Any

from seqlab.core.errors import closest, listed, shortened
from seqlab.core.settings import Settings, expected
from seqlab.models.settings import MODEL_KINDS
from seqlab.recipes.recipe import SECTIONS, Recipe


def unknown_name(name: str) -> str:
    """A word at the top of a recipe that is neither a section nor a setting there."""
    homes = [f"{section}.{name}" for section in _homes(name)]
    hint = f"Did you mean {' or '.join(homes)}?" if homes else _meant(name, Recipe.model_fields)
    return f"'{shortened(name)}' is not a section or setting. {hint}"


def in_words(entry: Any) -> str:
    """One complaint of pydantic as a sentence that starts with the dotted name."""
    place = [part for number, part in enumerate(entry["loc"]) if not (number == 1 and entry["loc"][0] == "model" and part in MODEL_KINDS)]
    section = str(place[0])
    if entry["type"] == "extra_forbidden":
        return _unknown_setting(section, str(place[-1]), chosen=_kind_of_model(entry))
    if entry["type"] in ("union_tag_invalid", "union_tag_not_found"):
        kind = str(entry["input"].get("kind", ""))
        return f"model.kind: expected {_or(MODEL_KINDS)}, found {found(kind)}.{_hint(kind, MODEL_KINDS)}"
    if len(place) == 1 and section in SECTIONS:
        return f"{section}: expected a section with settings of its own, found {found(entry['input'])}."
    return _wrong_value(place, entry)


def truths_for_numbers(section: str, values: dict[str, Any]) -> dict[str, str]:
    """Settings that take a number and got `true` or `false`, which Python would read as 1 or 0, with a sentence for each."""
    fields = {name: field for kind in SECTIONS.get(section, ()) for name, field in kind.model_fields.items()}
    wrong = [name for name, value in values.items() if isinstance(value, bool) and name in fields and fields[name].annotation in (int, float)]
    return {name: f"{section}.{name}: expected {expected(fields[name])}, found {found(values[name])}." for name in wrong}


def _wrong_value(place: list[Any], entry: Any) -> str:
    settings = _kind_of_model(entry) or (SECTIONS[str(place[0])][0] if len(place) > 1 else Recipe)
    name = str(place[1] if len(place) > 1 else place[0])
    dotted = ".".join(str(part) for part in place[:2])
    if len(place) > 2:  # an entry of a list
        return f"{dotted}: expected text as entry {int(place[2]) + 1}, found {found(entry['input'])}."
    field = settings.model_fields[name]
    choices = [str(choice) for choice in getattr(field.annotation, "__args__", ()) if isinstance(choice, str)]
    hint = _hint(str(entry["input"]), choices) if choices else ""
    return f"{dotted}: expected {expected(field)}, found {found(entry['input'])}.{hint}"


def _unknown_setting(section: str, key: str, *, chosen: type[Settings] | None) -> str:
    kinds = SECTIONS.get(section, (Recipe,))
    name = f"{section}.{shortened(key)}"
    elsewhere = [str(kind.model_fields["kind"].default) for kind in kinds if key in kind.model_fields and kind is not chosen]
    if chosen is not None and elsewhere:
        return f"{name}: a {chosen.model_fields['kind'].default} model has no such setting; it belongs to {' and '.join(elsewhere)} models."
    allowed = chosen.model_fields if chosen is not None else kinds[0].model_fields
    homes = [f"{home}.{key}" for home in _homes(key)]
    hint = f"Did you mean {' or '.join(homes)}?" if homes else _meant(key, allowed)
    return f"{name}: no such setting. {hint} All: seqlab explain {section}"


def _kind_of_model(entry: Any) -> type[Settings] | None:
    place = entry["loc"]
    return MODEL_KINDS.get(str(place[1])) if place[0] == "model" and len(place) > 1 else None


def _homes(key: str) -> list[str]:
    """The sections that have a setting of this name."""
    return [section for section, kinds in SECTIONS.items() if any(key in kind.model_fields for kind in kinds)]


def _meant(name: str, allowed: Any) -> str:
    close = closest(name, allowed)
    return f"Did you mean '{close}'?" if close else f"There is: {listed(list(allowed))}."


def _hint(name: str, allowed: Any) -> str:
    close = closest(name, [choice for choice in allowed if choice])
    return f" Did you mean '{close}'?" if close and close != name else ""


def _or(names: Any) -> str:
    *first, last = names
    return f"{', '.join(first)} or {last}"


def found(value: Any) -> str:
    """A value as one would write it in a recipe, cut to a readable length.

    >>> found(True), found("abc"), found({"a": 1}), found([1, 2])
    ('true', "'abc'", 'a section', '[1, 2]')
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    return "a section" if isinstance(value, dict) else shortened(repr(value))
