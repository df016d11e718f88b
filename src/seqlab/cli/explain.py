"""seqlab explain: what a setting, a part or a term means, read from where it is defined."""

from __future__ import annotations

import sys
from dataclasses import asdict, dataclass, field
from shutil import get_terminal_size
from typing import TYPE_CHECKING, Annotated, Any

import typer

from seqlab.cli.console import answer, answer_json, answer_sentences, suggest
from seqlab.cli.options import AsJson
from seqlab.cli.wrap_equation import wrap_equation

if TYPE_CHECKING:
    from seqlab.cli.glossary.terms import Term
    from seqlab.cli.part_docs import PartDescription
    from seqlab.core.errors import UsageError
    from seqlab.core.settings import SettingHelp

EXAMPLES = """\b
Examples:
  seqlab explain training
  seqlab explain training.clip_norm
  seqlab explain lstm
  seqlab explain model.cell
  seqlab explain early stopping
  seqlab explain RoPE
"""
INDENT = "    "
UNEXPLAINED = ("runs",)
"""Kinds whose names are the user's own."""


@dataclass(frozen=True)
class Explanation:
    """Everything that matches a topic: parts, a term, settings, and sections of a recipe with their help."""

    parts: list[PartDescription] = field(default_factory=list)
    term: Term | None = None
    settings: list[SettingHelp] = field(default_factory=list)
    sections: dict[str, str] = field(default_factory=dict)

    @property
    def names(self) -> dict[str, str]:
        """What each is, by its kind and name."""
        term = {self.term.name: self.term.meaning} if self.term else {}
        return {**self.sections, **{part.title: part.summary for part in self.parts}, **term}

    @property
    def pages(self) -> list[str]:
        """Pages of the documentation, the most specific first."""
        pages = [*(part.page for part in self.parts), self.term.page if self.term else ""]
        return list(dict.fromkeys(page for page in pages if page))


def explain(
    topic: Annotated[
        list[str] | None,
        typer.Argument(
            help=(
                "A section (training), a setting (training.clip_norm), the name of a model, cell, attention"
                " score, optimizer, dataset, task, study or recipe, or a term (teacher forcing)."
            ),
            metavar="TOPIC",
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Explain a setting, a model or other part, or a term."""
    name = " ".join(topic or [])
    explanation = find_explanation(name)
    if as_json:
        return answer_json(_as_json(name, explanation))
    _show(explanation)
    return suggest([_next(explanation)])


def find_explanation(topic: str) -> Explanation:
    """Everything with this name; an error suggests similar names."""
    from seqlab.cli.glossary.terms import find_part_name, find_term
    from seqlab.cli.part_docs import describe_part
    from seqlab.cli.setting_help import all_settings, matching_settings
    from seqlab.recipes.synonyms import setting_for

    if not topic:
        return Explanation(sections=_sections())
    term, settings = find_term(topic), matching_settings(topic)
    parts = [describe_part(kind, name) for kind, name in named_parts(topic)]
    if not (parts or settings) and (found := find_part_name(topic)):
        parts = [describe_part(*found)]
    if not (parts or settings or term):
        other = setting_for(topic) or registered_spelling(topic) or _setting_spelling(topic)
        if not other:
            raise _unknown(topic)
        return find_explanation(other)
    if term:
        settings += [
            entry for entry in all_settings() if entry.name in term.settings and entry not in settings
        ]
    return Explanation(parts, term, settings)


def _show(explanation: Explanation) -> None:
    from seqlab.cli.setting_help import describe_setting

    for name, sentence in explanation.sections.items():
        answer_sentences(f"{name}: {sentence}")
    for part in explanation.parts:
        answer_sentences(f"{part.title}: {part.summary}")
        _show_equations(part.equations)
        for line in part.details:
            answer_sentences(f"{INDENT}{line}")
    if explanation.term:
        answer_sentences(f"{explanation.term.name}: {explanation.term.meaning}")
        _show_equations(explanation.term.equations)
    for entry in explanation.settings:
        answer_sentences(describe_setting(entry))
    if explanation.pages:
        answer(f"read more: {', '.join(explanation.pages)}")


def _show_equations(equations: list[str]) -> None:
    """In a file or pipe, lines stay whole."""
    width = get_terminal_size().columns - len(INDENT) if sys.stdout.isatty() else sys.maxsize
    for equation in equations:
        for line in wrap_equation(equation, width):
            answer(f"{INDENT}{line}")


def _as_json(topic: str, explanation: Explanation) -> dict[str, Any]:
    """Keys without a value are left out, except those that every topic has."""
    from seqlab.cli.setting_help import setting_json

    term = explanation.term
    equations = [line for part in explanation.parts for line in part.equations]
    extra = {
        "equations": equations + (term.equations if term else []),
        "parameters": next((part.parameters for part in explanation.parts if part.parameters), ""),
        "parts": [asdict(part) for part in explanation.parts],
        "term": asdict(term) if term else {},
        "pages": explanation.pages,
    }
    return {
        "topic": topic,
        "settings": [setting_json(entry) for entry in explanation.settings],
        "names": explanation.names,
        **{name: value for name, value in extra.items() if value},
    }


def _unknown(topic: str) -> UsageError:
    """The error for an unknown topic."""
    from seqlab.cli.glossary.terms import known_names
    from seqlab.cli.kinds import KINDS
    from seqlab.cli.setting_help import all_settings
    from seqlab.core.errors import UsageError, nearest, shortened
    from seqlab.recipes.renamed_settings import new_name, new_names_of_keyword
    from seqlab.recipes.sections import section_names

    what = f"no setting, part or term is called '{shortened(topic)}'."
    if renamed := [name for name in (new_name(topic), *new_names_of_keyword(topic)) if name]:
        return UsageError(what, cure=f"It is called {' or '.join(renamed)} now.")
    names = {entry.name for entry in all_settings()} | set(section_names()) | known_names()
    return UsageError(
        what, cure=nearest(topic, names | {name for kind in KINDS.values() for name in kind.names()})
    )


def _sections() -> dict[str, str]:
    from seqlab.core.settings import sentence_of
    from seqlab.recipes.recipe import Recipe, task_settings
    from seqlab.recipes.sections import task_sections

    task_sentences = {name: sentence_of(task_settings(name)) for name in task_sections()}
    return {name: field.description or "" for name, field in Recipe.model_fields.items()} | task_sentences


def named_parts(topic: str) -> list[tuple[str, str]]:
    """The kind and name of every part with this name; for `model.cell`, all cells. Only a model may share its
    name with a section of recipes.
    """
    from seqlab.cli.kinds import KINDS
    from seqlab.models.aliases import MODEL_ALIASES
    from seqlab.recipes.recipe import Recipe

    if topic in ("model", "model.cell"):
        return [("cells", name) for name in KINDS["cells"].names()]
    if topic in Recipe.model_fields and topic not in MODEL_ALIASES:
        return []
    return [(name, topic) for name, kind in KINDS.items() if name not in UNEXPLAINED and kind.has(topic)]


def registered_spelling(topic: str) -> str:
    """The name of a part that differs from the topic only in its spelling, `lstm` for `LSTM`; empty if there is none."""
    from seqlab.cli.glossary.terms import spelling
    from seqlab.cli.kinds import KINDS

    explained = [kind for name, kind in KINDS.items() if name not in UNEXPLAINED]
    names = {spelling(name): name for kind in explained for name in kind.names()}
    found = names.get(spelling(topic), "")
    return found if found != topic else ""


def _setting_spelling(topic: str) -> str:
    """The name of a setting that is written with spaces or hyphens, `hidden_size` for `hidden size`; empty if there is
    none.
    """
    from seqlab.cli.glossary.terms import spelling
    from seqlab.cli.setting_help import matching_settings

    name = spelling(topic).replace(" ", "_")
    return name if name != topic and matching_settings(name) else ""


def _next(explanation: Explanation) -> str:
    """A command that uses the explained topic."""
    from seqlab.cli.kinds import KINDS

    for part in explanation.parts:
        if part.kind != "cells":  # a cell is also a model
            return (
                "seqlab list attention" if part.kind == "attention" else KINDS[part.kind].command(part.name)
            )
    if explanation.term:
        return explanation.term.command
    if explanation.parts:
        return KINDS["models"].command(explanation.parts[0].name)
    if explanation.settings:
        return f"seqlab train FILE {explanation.settings[0].name}=VALUE"
    return "seqlab explain training"
