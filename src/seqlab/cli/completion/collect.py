"""Collects everything that can be completed, from the same places as `seqlab list` and `seqlab explain`."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from seqlab.cli.completion.index import CompletionIndex, SettingEntry
from seqlab.cli.glossary.terms import all_terms
from seqlab.cli.kinds import KINDS
from seqlab.core.settings import SettingHelp, describe
from seqlab.recipes.recipe import Recipe
from seqlab.recipes.sections import section_names, settings_help

LIST = "list of "
CHOICE = " | "


def collect_index() -> CompletionIndex:
    # Runs are looked for anew each time.
    names = {kind: kind_of.summaries() for kind, kind_of in KINDS.items() if kind != "runs"}
    return CompletionIndex(_settings(names), names, _topics(names))


def _settings(names: dict[str, dict[str, str]]) -> dict[str, SettingEntry]:
    """Every setting by its dotted name; with the help of the first kind of model that has it, and the
    values of all."""
    top = describe(Recipe)
    found = {
        "task": SettingEntry(_help_of("task", top), "", list(names["tasks"])),
        "model": SettingEntry(_help_of("model", top), "", list(names["models"])),
    }
    for entry in (entry for section in section_names() for entry in settings_help(section)):
        first = found.setdefault(entry.name, _first_form(entry))
        values = [*first.values, *_choices(entry)]
        found[entry.name] = replace(first, values=list(dict.fromkeys(values)))
    return found


def _first_form(entry: SettingHelp) -> SettingEntry:
    return SettingEntry(entry.sentence, _typed(entry.default), is_list=entry.kind.startswith(LIST))


def _choices(entry: SettingHelp) -> list[str]:
    """What a setting chooses among, or what each entry of its list does."""
    choices = entry.kind.removeprefix(LIST)
    return choices.split(CHOICE) if CHOICE in choices else []


def _help_of(name: str, entries: list[SettingHelp]) -> str:
    return next(entry.sentence for entry in entries if entry.name == name)


def _typed(default: Any) -> str:
    """A default as one would type it.

    >>> _typed(True), _typed(3e-3), _typed((64, 32)), _typed(()), _typed("lstm")
    ('true', '0.003', '64,32', '', 'lstm')
    """
    if isinstance(default, tuple | list):
        return ",".join(map(_typed, default))
    return str(default).lower() if isinstance(default, bool) else str(default)


def _topics(names: dict[str, dict[str, str]]) -> dict[str, str]:
    """Sections, settings, names of parts, and words of the field, with hyphens: a shell breaks at spaces."""
    parts = {name: sentence for entries in names.values() for name, sentence in entries.items()}
    settings = {entry.name: entry.sentence for section in section_names() for entry in settings_help(section)}
    words = {word.replace(" ", "-").casefold(): term.meaning for word, term in all_terms().items()}
    return {**words, **parts, **settings, **dict.fromkeys(section_names(), "")}
