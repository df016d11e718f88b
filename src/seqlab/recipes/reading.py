"""TOML and KEY=VALUE -> a checked recipe, with every mistake reported at once."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from importlib import resources
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from seqlab.core.errors import RecipeError, UsageError, nearest
from seqlab.models.settings import MODEL_KINDS, SHORT_NAMES
from seqlab.recipes.recipe import FORMAT, SECTIONS, Recipe

Raw = dict[str, Any]
TASKS = ("classification", "language_model")


def shipped_recipes() -> list[str]:
    """The names of the recipes that come with seqlab."""
    return sorted(entry.name.removesuffix(".toml") for entry in resources.files("seqlab.recipes").iterdir() if entry.name.endswith(".toml"))


def read_raw(what: str) -> Raw:
    """The contents of a `.toml` file or of a shipped recipe, unchecked."""
    if what in shipped_recipes():
        text = resources.files("seqlab.recipes").joinpath(f"{what}.toml").read_text(encoding="utf-8")
    else:
        path = Path(what)
        if not path.is_file():
            raise RecipeError("there is no such recipe file.", where=what, cure=f"Shipped recipes: {', '.join(shipped_recipes())}.")
        text = path.read_text(encoding="utf-8", errors="replace")
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise RecipeError(f"not valid TOML: {error}.", where=what, cure="Strings need quotes; a section starts with [name].") from error


def sentence_of(what: str) -> str:
    """The comment on the first line of a shipped recipe."""
    text = resources.files("seqlab.recipes").joinpath(f"{what}.toml").read_text(encoding="utf-8")
    return text.partition("\n")[0].removeprefix("#").strip()


def override(raw: Raw, assignments: Iterable[str], *, model: str = "") -> Raw:
    """Apply `--model NAME` and `section.name=value` words on top of a recipe."""
    changed = {name: dict(value) if isinstance(value, dict) else value for name, value in raw.items()}
    if model:
        if model not in SHORT_NAMES:
            raise UsageError(f"there is no model called '{model}'.", where="--model", cure=nearest(model, SHORT_NAMES))
        changed["model"] = dict(SHORT_NAMES[model])
    for assignment in assignments:
        name, equals, value = assignment.partition("=")
        if not equals:
            raise UsageError(f"'{assignment}' is not of the form KEY=VALUE.", cure="For example: training.steps=500")
        section, dot, key = name.strip().partition(".")
        if dot:
            place = changed.setdefault(section, {})
            if not isinstance(place, dict):
                raise UsageError(f"'{section}' is one setting and has no part '{key}'.", cure=f"For example: {section}=classification")
            place[key] = _value(value)
        else:
            changed[section] = _value(value)
    return changed


def check(raw: Raw, *, where: str) -> Recipe:
    """A recipe from raw settings, or one error that names all mistakes."""
    version = raw.get("format", FORMAT)
    if isinstance(version, int) and version > FORMAT:
        raise RecipeError(f"the recipe has format {version}, this seqlab reads up to {FORMAT}.", where=where, cure="Update seqlab.")
    mistakes = _unknown_sections(raw)
    known = {name: value for name, value in raw.items() if name in Recipe.model_fields}
    model = known.get("model")
    if isinstance(model, dict):
        known["model"] = {"kind": "recurrent", **model}
    if known.get("task") and known["task"] not in TASKS:
        mistakes.append(f"task: '{known['task']}' is not a task. {nearest(str(known['task']), TASKS)}")
    try:
        recipe = Recipe.model_validate(known)
    except ValidationError as error:
        mistakes += [_in_words(entry) for entry in error.errors()]
        raise RecipeError.of(mistakes, where=where) from None
    if mistakes:
        raise RecipeError.of(mistakes, where=where)
    return recipe


def _unknown_sections(raw: Raw) -> list[str]:
    mistakes = []
    for name in raw:
        if name in Recipe.model_fields:
            continue
        homes = [f"{section}.{name}" for section, kinds in SECTIONS.items() if any(name in kind.model_fields for kind in kinds)]
        hint = f"Did you mean {' or '.join(homes)}?" if homes else nearest(name, Recipe.model_fields)
        mistakes.append(f"'{name}' is not a section or setting. {hint}")
    return mistakes


def _in_words(entry: Any) -> str:
    """One pydantic complaint as a sentence with the dotted name."""
    place = [str(part) for part in entry["loc"] if part not in MODEL_KINDS]
    name = ".".join(place)
    found = f"found {_short(entry['input'])}"
    if entry["type"] == "extra_forbidden":
        return _unknown_setting(place, entry)
    if entry["type"] in ("union_tag_invalid", "union_tag_not_found"):
        kind = entry["input"].get("kind", "") if isinstance(entry["input"], dict) else entry["input"]
        return f"model.kind: '{kind}' is not a kind of model. {nearest(str(kind), MODEL_KINDS)}"
    if entry["type"] == "literal_error":
        return f"{name}: {found}, allowed: {entry['ctx']['expected'].replace(' or ', ', ')}."
    sentence = entry["msg"][0].lower() + entry["msg"][1:]
    return f"{name}: {sentence}, {found}."


def _unknown_setting(place: list[str], entry: Any) -> str:
    section, key = place[0], place[-1]
    kinds = SECTIONS.get(section, ())
    chosen = next((kind for name, kind in MODEL_KINDS.items() if name in entry["loc"]), None)
    elsewhere = [str(kind.model_fields["kind"].default) for kind in kinds if key in kind.model_fields and kind is not chosen]
    if chosen is not None and elsewhere:
        kind = chosen.model_fields["kind"].default
        return f"{section}.{key}: a {kind} model has no such setting; it belongs to {' and '.join(elsewhere)} models."
    allowed = chosen.model_fields if chosen is not None else {name for kind in kinds for name in kind.model_fields}
    return f"{section}.{key}: no such setting. {nearest(key, allowed)}"


def _value(text: str) -> Any:
    """TOML reads numbers, booleans, lists and quoted strings; everything else is a string as it stands."""
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
