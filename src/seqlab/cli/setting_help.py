"""The settings that `seqlab explain` shows for a topic, and their format."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from seqlab.core.settings import SettingHelp


def matching_settings(topic: str) -> list[SettingHelp]:
    """The settings of a section, the options of a cell, or all settings with this name.

    Only the last case reads all settings, which imports every task.
    """
    from seqlab.cells.settings import CELL_KINDS
    from seqlab.core.settings import describe
    from seqlab.recipes.sections import is_section, settings_help

    if not topic:
        return []
    if topic in CELL_KINDS:
        return [
            entry
            for entry in describe(CELL_KINDS[topic], prefix="model.cell.")
            if entry.name != "model.cell.kind"
        ]
    of_section = settings_help(topic) if is_section(topic) else []
    if of_section and "." not in topic:
        return of_section
    named = [entry for entry in all_settings() if entry.name == topic or entry.name.endswith(f".{topic}")]
    return [*named, *of_section]


def all_settings() -> list[SettingHelp]:
    """Every setting once; a setting whose help or default differs between models, once for each."""
    from seqlab.core.settings import describe
    from seqlab.recipes.recipe import Recipe
    from seqlab.recipes.sections import section_names, settings_help

    sections = section_names()
    top = [entry for entry in describe(Recipe) if entry.name not in sections]
    return [*top, *(entry for section in sections for entry in settings_help(section))]


def describe_setting(entry: SettingHelp) -> str:
    """A setting with its type, default, help, and the models or cells that have it."""
    return f"{entry.name} ({entry.kind}; {_default(entry.default)})\n    {entry.sentence}{_owners(entry)}"


def setting_json(entry: SettingHelp) -> dict[str, Any]:
    owners = {"kinds": list(entry.kinds)} if entry.kinds else {}
    return {
        "name": entry.name,
        "kind": entry.kind,
        "default": entry.default,
        "help": entry.sentence,
        **owners,
    }


def _owners(entry: SettingHelp) -> str:
    """The models or cells that have a setting, on a separate line."""
    if not entry.kinds:
        return ""
    return f"\n    {'Cells' if entry.name.startswith('model.cell.') else 'Models'}: {', '.join(entry.kinds)}."


def _default(value: Any) -> str:
    """
    >>> _default(""), _default(True), _default(0.5), _default("lstm"), _default(())
    ('empty by default', 'default true', 'default 0.5', 'default lstm', 'empty by default')
    """
    return "empty by default" if value in ("", ()) else f"default {format_value(value)}"


def format_value(value: Any) -> str:
    """As in a recipe, without quotes and brackets.

    >>> format_value(False), format_value(1e-3), format_value(("input", "output"))
    ('false', '0.001', 'input, output')
    """
    if isinstance(value, tuple):
        return ", ".join(map(format_value, value))
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:g}" if isinstance(value, float) else str(value)
