"""seqlab explain: what a section or a setting means, from the same place that checks it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

import typer

from seqlab.cli.console import answer, answer_json, answer_sentences, suggest

if TYPE_CHECKING:
    from seqlab.core.errors import UsageError
    from seqlab.core.settings import SettingHelp

EXAMPLES = """\b
Examples:
  seqlab explain training
  seqlab explain training.clip_norm
  seqlab explain lstm
  seqlab explain model.cell
  seqlab explain "early stopping"
"""


def explain(
    topic: Annotated[
        str,
        typer.Argument(
            help=(
                "A section (training), a setting (training.clip_norm), a model, cell, score, dataset, task or"
                " recipe, or a word of the field (teacher forcing)."
            ),
            metavar="TOPIC",
        ),
    ] = "",
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object on standard output.")] = False,
) -> None:
    """Explain a section, a setting or a name."""
    entries, named, command = _matching_settings(topic), _named(topic), ""
    if not topic:
        named = _sections()
    elif not (entries or named):
        entries, named, command = _word_of_the_field(topic)
    equations, parameters = _formulas(topic, named)
    if as_json:
        formulas = {"equations": equations, "parameters": parameters}
        settings = [_as_json(entry) for entry in entries]
        return answer_json(
            {
                "topic": topic,
                "settings": settings,
                "names": named,
                **{name: value for name, value in formulas.items() if value},
            }
        )
    for name, sentence in named.items():
        answer_sentences(f"{name}: {sentence}")
    if equations:
        answer("\n".join(f"    {line}" for line in equations))
        answer("    x is (batch, input), hidden (batch, hidden); W is (gates · hidden, input)")
    if parameters:
        answer_sentences(f"    parameters: {parameters}")
    for entry in entries:
        answer_sentences(
            f"{entry.name} ({entry.kind}; {_default(entry.default)})\n    {entry.sentence}{_owners(entry)}"
        )
    return suggest([command or _next(topic, entries, named)])


def _formulas(topic: str, named: Mapping[str, str]) -> tuple[list[str], str]:
    """The equations of a cell, and how many parameters a cell or the Transformer has."""
    from seqlab.cli.equations import cell_equations
    from seqlab.models.parameter_formulas import describe_parameters

    equations = cell_equations(topic) if f"cell {topic}" in named else []
    return equations, describe_parameters(topic) if f"model {topic}" in named else ""


def _word_of_the_field(topic: str) -> tuple[list[SettingHelp], dict[str, str], str]:
    """What a word that is no name of a setting or part means: its settings, its meaning, and a command."""
    from seqlab.cli.field_words import find_word

    match = find_word(topic)
    if match is None:
        raise _unknown(topic)
    name, word = match
    entries = [entry for entry in _all_settings() if entry.name in word.settings]
    return entries, {name: word.meaning}, word.command


def _unknown(topic: str) -> UsageError:
    """The error for a topic that nothing has as its name."""
    from seqlab.cli.field_words import OTHER_NAMES, WORDS
    from seqlab.cli.listing import KINDS
    from seqlab.core.errors import UsageError, nearest, shortened
    from seqlab.recipes.renamed import new_name, new_names_of_keyword
    from seqlab.recipes.sections import section_names
    from seqlab.recipes.synonyms import setting_for

    what = f"there is nothing called '{shortened(topic)}'."
    if renamed := [name for name in (new_name(topic), *new_names_of_keyword(topic)) if name]:
        return UsageError(what, cure=f"It is called {' or '.join(renamed)} now.")
    if setting := setting_for(topic):
        return UsageError(what, cure=f"Did you mean '{setting}'? seqlab explain {setting}")
    names = (
        {entry.name for entry in _all_settings()} | set(section_names()) | WORDS.keys() | OTHER_NAMES.keys()
    )
    return UsageError(what, cure=nearest(topic, names | {name for kind in KINDS.values() for name in kind()}))


def _matching_settings(topic: str) -> list[SettingHelp]:
    """The settings of a section, the options of a cell, or whatever has this name.

    Only the last looks at all settings, for which every task is imported.
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
    own = settings_help(topic) if is_section(topic) else []
    if own and "." not in topic:
        return own
    named = [entry for entry in _all_settings() if entry.name == topic or entry.name.endswith(f".{topic}")]
    return [*named, *own]


def _owners(entry: SettingHelp) -> str:
    """The kinds of model, or the cells, that have a setting, on a line of its own."""
    if not entry.kinds:
        return ""
    return f"\n    {'Cells' if entry.name.startswith('model.cell.') else 'Models'}: {', '.join(entry.kinds)}."


def _all_settings() -> list[SettingHelp]:
    """Every setting once; those of several kinds of model that differ in their sentence or default once
    each.
    """
    from seqlab.core.settings import describe
    from seqlab.recipes.recipe import Recipe
    from seqlab.recipes.sections import section_names, settings_help

    sections = section_names()
    top = [entry for entry in describe(Recipe) if entry.name not in sections]
    return [*top, *(entry for section in sections for entry in settings_help(section))]


def _sections() -> dict[str, str]:
    from seqlab.core.settings import sentence_of
    from seqlab.recipes.recipe import Recipe, task_settings
    from seqlab.recipes.sections import task_sections

    task_sentences = {task: sentence_of(task_settings(task)) for task in task_sections()}
    return {name: field.description or "" for name, field in Recipe.model_fields.items()} | task_sentences


def _named(topic: str) -> dict[str, str]:
    """Tasks, models, cells, scores, positions, tokens, datasets and recipes of this name, and the cells among
    which a model chooses. Only a model may have the name of a section that every recipe has.
    """
    from seqlab.cli.listing import KINDS
    from seqlab.models.aliases import MODEL_ALIASES
    from seqlab.recipes.recipe import Recipe

    if topic in ("model", "model.cell"):
        return {f"cell {name}": sentence for name, sentence in KINDS["cells"]().items()}
    if topic in Recipe.model_fields and topic not in MODEL_ALIASES:
        return {}
    names_by_kind = {
        kind: KINDS[kind]()
        for kind in ("tasks", "models", "cells", "attention", "positions", "tokens", "datasets", "recipes")
    }
    return {
        f"{kind.removesuffix('s')} {topic}": entries[topic]
        for kind, entries in names_by_kind.items()
        if topic in entries
    }


def _default(value: Any) -> str:
    """
    >>> _default(""), _default(True), _default(0.5), _default("lstm"), _default(())
    ('empty by default', 'default true', 'default 0.5', 'default lstm', 'empty by default')
    """
    if value in ("", ()):
        return "empty by default"
    if isinstance(value, tuple):
        return f"default {', '.join(map(str, value))}"
    return (
        "default"
        f" {str(value).lower() if isinstance(value, bool) else f'{value:g}' if isinstance(value, float) else value}"
    )


def _as_json(entry: SettingHelp) -> dict[str, Any]:
    owners = {"kinds": list(entry.kinds)} if entry.kinds else {}
    return {
        "name": entry.name,
        "kind": entry.kind,
        "default": entry.default,
        "help": entry.sentence,
        **owners,
    }


def _next(topic: str, entries: list[SettingHelp], named: dict[str, str]) -> str:
    """A command that uses what was explained."""
    from seqlab.cli.listing import USES

    commands = {
        "task": f"seqlab train FILE --task {topic}",
        "model": f"seqlab train FILE --model {topic}",
        "position": USES["positions"].format(topic),
        "attention": "seqlab list attention",
        "token": f"seqlab train FILE tokens.kind={topic}",
        "dataset": f"seqlab train {topic}",
        "recipe": f"seqlab train {topic} --dry-run",
    }
    for kind, command in commands.items():
        if f"{kind} {topic}" in named:
            return command
    return f"seqlab train FILE {entries[0].name}=VALUE" if entries else "seqlab explain training"
