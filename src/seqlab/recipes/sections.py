"""The sections of a recipe by their dotted names: those of every recipe, and one for each task with its own
settings.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from seqlab.cells.settings import CELL_KINDS
from seqlab.core.errors import closest
from seqlab.core.settings import SettingHelp, Settings, describe
from seqlab.models.settings.section import MODEL_KINDS
from seqlab.recipes.recipe import Recipe, task_settings
from seqlab.recipes.renamed_settings import new_names_of_keyword
from seqlab.recipes.synonyms import setting_for
from seqlab.recipes.task_registry import registered_tasks

KINDS: Mapping[str, Mapping[str, type[Settings]]] = {"model": MODEL_KINDS, "model.cell": CELL_KINDS}
"""The sections whose setting `kind` determines which other settings there are."""
ARGUMENTS = ("task", "out", "callbacks", "verbose")
"""Keyword arguments of `seqlab.train` that are not settings of a section."""
DEFAULT_KINDS = {"model": "recurrent", "model.cell": "lstm"}


def section_names() -> list[str]:
    """Return the names of all sections, those of tasks last.

    >>> section_names()[:4]
    ['data', 'tokens', 'model', 'model.cell']
    """
    names = []
    for name, field in Recipe.model_fields.items():
        if name in KINDS or (isinstance(field.annotation, type) and issubclass(field.annotation, Settings)):
            names += [name, *(inner for inner in KINDS if inner.startswith(f"{name}."))]
    return [*names, *task_sections()]


def task_sections() -> list[str]:
    """Return the tasks that have their own settings."""
    return [name for name in registered_tasks.names() if task_settings(name).model_fields]


def is_section(name: str) -> bool:
    return name in KINDS or bool(settings_of(name))


def settings_of(section: str) -> tuple[type[Settings], ...]:
    """Return the settings classes that a section may hold; empty if there is no such section.

    >>> [settings.__name__ for settings in settings_of("language_model")], settings_of("no_such")
    (['LanguageModelSettings'], ())
    """
    if section in KINDS:
        return tuple(KINDS[section].values())
    if section in Recipe.model_fields:
        kind = Recipe.model_fields[section].annotation
        return (kind,) if isinstance(kind, type) and issubclass(kind, Settings) else ()
    if section in registered_tasks.names() and task_settings(section).model_fields:
        return (task_settings(section),)
    return ()


def sections_with(name: str) -> list[str]:
    """Return the sections that have a setting of this name."""
    return [
        section
        for section in section_names()
        if any(name in settings.model_fields for settings in settings_of(section))
    ]


def settings_help(section: str) -> list[SettingHelp]:
    """Describe every setting of a section under its dotted name.

    A setting that differs between the kinds of a section is listed once per variant.
    """
    if section not in KINDS:
        return describe(settings_of(section)[0], prefix=f"{section}.")
    kinds = KINDS[section]
    about = kinds[DEFAULT_KINDS[section]].model_fields["kind"].description or ""
    forms: dict[SettingHelp, list[str]] = {}
    for kind, settings in kinds.items():
        for entry in describe(settings, prefix=f"{section}."):
            forms.setdefault(entry, []).append(kind)
    own = [
        replace(entry, kinds=() if len(kinds_with) == len(kinds) else tuple(kinds_with))
        for entry, kinds_with in forms.items()
    ]
    names = list(dict.fromkeys(entry.name for entry in own))  # keep the variants of a setting together
    first = SettingHelp(f"{section}.kind", " | ".join(kinds), DEFAULT_KINDS[section], about)
    return [
        first,
        *sorted(
            (entry for entry in own if entry.name != first.name), key=lambda entry: names.index(entry.name)
        ),
    ]


MAIN = ("data", "tokens", "model", "training")
"""A name in one of these sections refers to that section, even if another section such as `decoder` has the
same name.
"""


def dotted_names(settings: Mapping[str, Any], *, task: str = "") -> tuple[dict[str, Any], list[str]]:
    """Return settings under their dotted names, and what is wrong with names that are not one setting.

    A name in the section of the task refers to that section.

    >>> dotted_names({"learning_rate": 0.1, "text": "review", "model.dropout": 0.3})
    ({'training.learning_rate': 0.1, 'data.text': 'review', 'model.dropout': 0.3}, [])
    >>> dotted_names({"window": 64}, task="language_model")
    ({'language_model.window': 64}, [])
    >>> dotted_names({"training": {"steps": 20, "seed": 3}})
    ({'training.steps': 20, 'training.seed': 3}, [])
    >>> dotted_names({"hiden_size": 5})
    ({}, ["'hiden_size' is not a setting. Did you mean model.hidden_size or decoder.hidden_size?"])
    """
    dotted: dict[str, Any] = {}
    mistakes = []
    for name, value in settings.items():
        if isinstance(value, Mapping) and name in section_names():
            dotted |= {f"{name}.{setting}": entry for setting, entry in value.items()}
        elif "." in name:
            dotted[name] = value
        elif problem := _problem_of(name, task):
            mistakes.append(problem)
        else:
            dotted[f"{_homes_in(name, task)[0]}.{name}"] = value
    return dotted, mistakes


def _homes_in(name: str, task: str) -> list[str]:
    """The sections that a name may refer to: one, if it is clear which."""
    of_tasks = task_sections()
    candidates = [
        section for section in sections_with(name) if section == task or not task or section not in of_tasks
    ]
    of_this_task = [section for section in candidates if section == task]
    main = of_this_task or [section for section in candidates if section in MAIN or section in of_tasks]
    return main if len(main) == 1 else candidates


def _problem_of(name: str, task: str) -> str:
    """Say why a name does not refer to one setting; empty if it does."""
    homes = _homes_in(name, task)
    if len(homes) == 1:
        return ""
    if homes:
        choices = " or ".join(f'**{{"{section}.{name}": …}}' for section in homes)
        return (
            f"'{name}' is ambiguous: it is a setting of {', '.join(homes)}. Give the dotted name: {choices}"
            + ("" if task else ", or the task.")
        )
    if renamed := new_names_of_keyword(name):
        return f"'{name}' has been renamed. Use {' or '.join(renamed)}."
    if others := sections_with(name):
        return f"'{name}' has no effect on the task {task}: it is a setting of {' and '.join(others)}. Leave it out."
    return f"'{name}' is not a setting. {_similar(name)}"


def settings_called(name: str) -> list[str]:
    """Return the dotted names of the settings that a name without a section may mean, also a name of another library
    or of an earlier version.

    >>> settings_called("epochs"), settings_called("lr"), settings_called("nonsense")
    (['training.epochs'], ['training.learning_rate'], [])
    >>> settings_called("seed")
    ['data.seed', 'training.seed', 'decoding.seed']
    """
    if sections := _homes_in(name, ""):
        return [f"{section}.{name}" for section in sections]
    if setting := setting_for(name):
        return [setting]
    return [new for names in new_names_of_keyword(name) for new in names.split(" or ")]


def plain_names() -> set[str]:
    """Return the names of all settings, without their sections."""
    return {
        field for section in section_names() for kind in settings_of(section) for field in kind.model_fields
    }


def _similar(name: str) -> str:
    """Suggest similar settings by their dotted names, or say where all of them are listed."""
    arguments = {*section_names(), *ARGUMENTS}
    nearest = closest(name, plain_names() | arguments)
    close = (
        [setting] if (setting := setting_for(name)) else _homes(nearest) or [nearest] * (nearest in arguments)
    )
    return (
        f"Did you mean {' or '.join(close)}?"
        if close
        else "All settings: seqlab explain, docs/reference/settings.md"
    )


def _homes(name: str) -> list[str]:
    return [f"{section}.{name}" for section in sections_with(name)] if name else []
