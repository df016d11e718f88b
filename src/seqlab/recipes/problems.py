"""Messages about mistakes in a recipe: the name of the setting, what it takes, what was found."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from seqlab.core.errors import closest, listed, shortened
from seqlab.core.part_name import PartName
from seqlab.core.plugins import PLUGIN_HINT
from seqlab.core.settings import Settings, choices_of, entry_of, expected, expected_entry
from seqlab.models.aliases import MODEL_ALIASES
from seqlab.recipes.recipe import Recipe
from seqlab.recipes.renamed_settings import new_name
from seqlab.recipes.sections import KINDS, is_section, sections_with, settings_of, task_sections
from seqlab.recipes.synonyms import setting_for
from seqlab.recipes.task_registry import registered_tasks


@dataclass(frozen=True)
class ErrorLocation:
    """The location of a mistake: a section, the settings class that its kind selects, and the rest of the
    path (a setting, an entry of a list).
    """

    section: str
    chosen: type[Settings] | None
    rest: tuple[str | int, ...]

    @classmethod
    def of(cls, path: Sequence[str | int]) -> ErrorLocation:
        """Parse a path of pydantic, which has the kinds between the names.

        >>> place = ErrorLocation.of(["model", "recurrent", "cell", "lstm", "forget_bias"])
        >>> place.section, place.chosen.__name__, place.rest
        ('model.cell', 'lstm_settings', ('forget_bias',))
        """
        section, rest, chosen = str(path[0]), tuple(path[1:]), None
        while rest:
            if chosen is None and rest[0] in KINDS.get(section, {}):
                chosen, rest = KINDS[section][str(rest[0])], rest[1:]
            elif is_section(f"{section}.{rest[0]}") and (
                chosen is None or str(rest[0]) in chosen.model_fields
            ):
                section, chosen, rest = f"{section}.{rest[0]}", None, rest[1:]
            else:
                break
        return cls(section, chosen, rest)


def unknown_section(name: str, value: Any, task: str) -> list[str]:
    """Explain a name at the top level of a recipe that is neither a section nor a setting."""
    if renamed := new_name(name):
        names = [f"{name}.{key}" for key in value] if isinstance(value, Mapping) else []
        return [f"{old}: this setting is now called {new_name(old)}." for old in names] or [
            f"{name}: this section is now called {renamed}."
        ]
    if name in registered_tasks.names():
        if not is_section(name):
            return [f"{name}: the task {name} has no settings of its own."]
        return [
            f"{name}: this section belongs to the task {name}, but the task is {task}. Remove it, or set task={name}."
        ]
    homes = (
        [setting] if (setting := setting_for(name)) else [f"{home}.{name}" for home in sections_with(name)]
    )
    hint = (
        f"Did you mean {' or '.join(homes)}?"
        if homes
        else _meant(name, [*Recipe.model_fields, *task_sections()])
    )
    return [f"'{shortened(name)}' is not a section or setting. {hint}"]


def in_words(entry: Any) -> str:
    """Turn one error of pydantic into a sentence that starts with the dotted name."""
    place = ErrorLocation.of(entry["loc"])
    if entry["type"] == "value_error":  # settings that contradict each other have their own message
        return f"{place.section}: {entry['ctx']['error']}"
    if entry["type"] == "extra_forbidden":
        return _unknown_option(place) if place.section == "model.cell" else _unknown_setting(place)
    if entry["type"] in ("union_tag_invalid", "union_tag_not_found"):
        return _unknown_kind(place, _kind_in(entry["input"]))
    if not place.rest and place.section == "model.cell":
        return (
            f"model.cell: expected {one_of(KINDS['model.cell'])}, or a section with one of them as its kind,"
            f" found {format_value(entry['input'])}."
        )
    if not place.rest and is_section(place.section):
        hint = (
            _hint(entry["input"], MODEL_ALIASES)
            if place.section == "model" and isinstance(entry["input"], str)
            else ""
        )
        return (
            f"{place.section}: expected a section with settings, found {format_value(entry['input'])}.{hint}"
        )
    return _wrong_value(place, entry["input"])


def _kind_in(value: Any) -> str:
    return value if isinstance(value, str) else str(value.get("kind", ""))


LARGEST_NUMBER = 2**53
"""Larger integers are not exact as floating-point numbers."""


def unusable_numbers(section: str, values: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """Find settings that take a number but got `true` or `false` (1 or 0 to Python), or a number that is too large.

    Returns the other settings, and a message for each of these.
    """
    fields = {
        name: field for kind in _possible_kinds(section, values) for name, field in kind.model_fields.items()
    }
    right: dict[str, Any] = {}
    wrong: list[str] = []
    for name, value in values.items():
        field = fields.get(name)
        if isinstance(value, dict) and is_section(f"{section}.{name}"):
            right[name], more = unusable_numbers(f"{section}.{name}", value)
            wrong += more
        elif field is not None and _is_truth_for_number(value, field.annotation):
            wrong.append(f"{section}.{name}: expected {expected(field)}, found {format_value(value)}.")
        elif field is not None and field.annotation is not float and _is_too_large(value):
            limit = f"whole numbers of at most {LARGEST_NUMBER:,}"
            wrong.append(f"{section}.{name}: expected {limit}, found {format_value(value)}.")
        else:
            right[name] = value
    return right, wrong


def _possible_kinds(section: str, values: Mapping[str, Any]) -> Sequence[type[Settings]]:
    """Return the settings of the kind that is named, because collecting those of all cells is slow; all if
    none is.
    """
    kinds = KINDS.get(section, {})
    kind = values.get("kind")
    return [kinds[kind]] if isinstance(kind, str) and kind in kinds else settings_of(section)


def _is_truth_for_number(value: Any, annotation: Any) -> bool:
    if isinstance(value, list):
        return entry_of(annotation) is not None and any(isinstance(part, bool) for part in value)
    return isinstance(value, bool) and annotation in (int, float)


def _is_too_large(value: Any) -> bool:
    if isinstance(value, list | tuple):
        return any(map(_is_too_large, value))
    return isinstance(value, int) and value > LARGEST_NUMBER


def _wrong_value(place: ErrorLocation, value: Any) -> str:
    settings = place.chosen or next(iter(settings_of(place.section)), Recipe)
    name = str(place.rest[0]) if place.rest else place.section
    dotted = f"{place.section}.{name}" if place.rest else name
    field = settings.model_fields[name]
    if len(place.rest) > 1:  # an entry of a list
        hint = _hint(str(value), choices_of(entry_of(field.annotation)))
        return (
            f"{dotted}: expected {expected_entry(field)} as entry {int(place.rest[1]) + 1}, found"
            f" {format_value(value)}.{hint}{_plugin_hint(entry_of(field.annotation))}"
        )
    return (
        f"{dotted}: expected {expected(field)}, found"
        f" {format_value(value)}.{_hint(str(value), choices_of(field.annotation))}{_plugin_hint(field.annotation)}"
    )


def _plugin_hint(annotation: Any) -> str:
    return f" {PLUGIN_HINT}" if isinstance(annotation, type) and issubclass(annotation, PartName) else ""


def _unknown_kind(place: ErrorLocation, kind: str) -> str:
    kinds = KINDS[place.section]
    if place.section == "model" and kind in MODEL_ALIASES:
        return (
            f"model.kind: expected {one_of(kinds)}, found '{kind}', which is a short name. Use model={kind}"
        )
    name = place.section if place.section == "model.cell" else f"{place.section}.kind"
    plugin = f" {PLUGIN_HINT}" if place.section == "model.cell" else ""
    return f"{name}: expected {one_of(kinds)}, found {format_value(kind)}.{_hint(kind, kinds)}{plugin}"


def _unknown_setting(place: ErrorLocation) -> str:
    section, key, chosen = place.section, str(place.rest[-1]) if place.rest else "", place.chosen
    kinds = settings_of(section) or (Recipe,)
    name = f"{section}.{shortened(key)}"
    if renamed := new_name(f"{section}.{key}"):
        return f"{name}: this setting is now called {renamed}."
    elsewhere = [
        str(kind.model_fields["kind"].default)
        for kind in kinds
        if key in kind.model_fields and kind is not chosen
    ]
    if chosen is not None and elsewhere:
        return (
            f"{name}: a {chosen.model_fields['kind'].default} model has no such setting; it belongs to"
            f" {' and '.join(elsewhere)} models."
        )
    allowed = chosen.model_fields if chosen is not None else kinds[0].model_fields
    homes = [setting] if (setting := setting_for(key)) else [f"{home}.{key}" for home in sections_with(key)]
    hint = f"Did you mean {' or '.join(homes)}?" if homes else _meant(key, allowed)
    return f"{name}: no such setting. {hint} All: seqlab explain {section}"


def unknown_to_every_kind(section: str, values: Mapping[str, Any]) -> list[str]:
    """Explain the settings that no kind of a section has, where the kind itself is unknown."""
    return [
        _unknown_setting(ErrorLocation(section, None, (name,)))
        for name in values
        if not any(name in kind.model_fields for kind in settings_of(section))
        and not is_section(f"{section}.{name}")
    ]


def _unknown_option(place: ErrorLocation) -> str:
    """Explain an option that this cell does not have, but another one may."""
    cells, chosen, key = KINDS["model.cell"], place.chosen, str(place.rest[0])
    assert chosen is not None
    options = [name for name in chosen.model_fields if name != "kind"]
    close = (
        key
        if any(key in cell.model_fields for cell in cells.values())
        else closest(key, {name for cell in cells.values() for name in cell.model_fields})
    )
    owners = [name for name, cell in cells.items() if close in cell.model_fields]
    if close == key:
        hint = f"; it belongs to {_and(owners)}."
    elif close in options:
        hint = f". Did you mean '{close}'?"
    else:
        hint = f". Did you mean '{close}' of {_and(owners)}?" if close else "."
    return (
        f"model.cell: '{chosen.model_fields['kind'].default}' has no option '{shortened(key)}'{hint} Options:"
        f" {listed(options)}."
    )


def _meant(name: str, allowed: Any) -> str:
    close = closest(name, allowed)
    return f"Did you mean '{close}'?" if close else f"Available: {listed(list(allowed))}."


def _hint(name: str, allowed: Iterable[str]) -> str:
    close = closest(name, [choice for choice in allowed if choice])
    return f" Did you mean '{close}'?" if close and close != name else ""


def one_of(names: Iterable[str]) -> str:
    """
    >>> one_of(["lstm", "gru", "rnn"]), one_of(["lstm"])
    ('lstm, gru or rnn', 'lstm')
    """
    *first, last = names
    return f"{', '.join(first)} or {last}" if first else last


def _and(names: Iterable[str]) -> str:
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last


def format_value(value: Any) -> str:
    """Format a value as in a recipe, shortened to a readable length.

    >>> format_value(True), format_value("abc"), format_value({"a": 1}), format_value([1, True])
    ('true', "'abc'", 'a section', '[1, true]')
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list | tuple):
        return shortened(f"[{', '.join(map(format_value, value))}]")
    return "a section" if isinstance(value, dict) else shortened(repr(value))
