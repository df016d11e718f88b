"""TOML -> a checked recipe, with every mistake reported at once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from importlib import resources
from pathlib import Path

from pydantic import ValidationError

from seqlab.core.errors import RecipeError, closest, listed
from seqlab.core.plugins import PLUGIN_HINT
from seqlab.metrics.registry import TRAINED
from seqlab.models.aliases import MODEL_ALIASES
from seqlab.recipes.contradictions import find_contradictions
from seqlab.recipes.overrides import Raw, override, short_model
from seqlab.recipes.problems import (
    ErrorLocation,
    format_value,
    in_words,
    one_of,
    unknown_section,
    unknown_to_every_kind,
    unusable_numbers,
)
from seqlab.recipes.recipe import FORMAT, Recipe, recipe_class
from seqlab.recipes.sections import DEFAULT_KINDS, KINDS, task_sections
from seqlab.recipes.task_registry import registered_tasks
from seqlab.recipes.toml_text import parse_toml

__all__ = ["Raw", "check", "override", "read_raw", "recipe_summary", "shipped_recipes", "with_task"]

LARGEST_RECIPE = 1_000_000


def shipped_recipes() -> list[str]:
    """Return the names of the recipes that come with seqlab."""
    return sorted(
        entry.name.removesuffix(".toml")
        for entry in resources.files("seqlab.recipes").iterdir()
        if entry.name.endswith(".toml")
    )


def recipe_summary(what: str) -> str:
    """Return the comment on the first line of a shipped recipe."""
    return _shipped(what).partition("\n")[0].removeprefix("#").strip()


def read_raw(what: str) -> Raw:
    """Read a `.toml` file or a shipped recipe without checking it."""
    text = _shipped(what) if what in shipped_recipes() else _read_file(what)
    try:
        return parse_toml(text)
    except ValueError as error:  # also a number with thousands of digits
        raise RecipeError(
            f"not valid TOML: {_sentence(error)}",
            where=what,
            cure='Text needs quotes (task = "classification"); a section starts with [name].',
        ) from error


def check(raw: Raw, *, where: str, is_trained: bool = False, mistakes: Sequence[str] = ()) -> Recipe:
    """Build a recipe from raw settings, or raise one error that lists all mistakes.

    is_trained: whether this is the recipe of a finished run, whose metrics need not be registered.
    mistakes: those that are known already.
    """
    _reject_other_formats(raw.get("format", FORMAT), where=where)
    task, wrong_task = _find_task(raw)
    mistakes = [*mistakes, *wrong_task]
    kind = recipe_class(task)
    known = {name: value for name, value in raw.items() if name in kind.model_fields}
    known |= {"format": FORMAT, "task": task}
    mistakes += [
        mistake for name in raw if name not in known for mistake in unknown_section(name, raw[name], task)
    ]
    model = known.get("model")
    if isinstance(model, str) and model in MODEL_ALIASES:
        known["model"] = short_model(model)
    elif isinstance(model, dict):
        known["model"] = _with_kinds(model)
    for section, values in known.items():
        if isinstance(values, dict):
            known[section], wrong = unusable_numbers(section, values)
            mistakes += wrong
    try:
        recipe = kind.model_validate(known, context=TRAINED if is_trained else None)
    except ValidationError as error:
        mistakes += [in_words(entry) for entry in error.errors()]
        if isinstance(model, dict) and model.get("kind", DEFAULT_KINDS["model"]) not in KINDS["model"]:
            mistakes += unknown_to_every_kind("model", model)
        right = _without_mistakes(kind, known, [entry["loc"] for entry in error.errors()])
        mistakes += _contradictions(right, mistakes) if right else []
        raise RecipeError.of(mistakes, where=where) from None
    if not is_trained:
        mistakes += _contradictions(recipe, mistakes)
    if mistakes:
        raise RecipeError.of(mistakes, where=where)
    return recipe


def _without_mistakes(kind: type[Recipe], known: Raw, paths: Iterable[Sequence[str | int]]) -> Recipe | None:
    """The recipe with defaults in place of wrong settings; None if that is not possible either."""
    right = {name: dict(values) if isinstance(values, dict) else values for name, values in known.items()}
    for place in map(ErrorLocation.of, paths):
        section, _, inner = place.section.partition(".")
        values = right.get(section)
        if isinstance(values, dict) and inner:
            values.pop(inner, None)
        elif isinstance(values, dict) and place.rest:
            values.pop(str(place.rest[0]), None)
        else:
            right.pop(section, None)
    try:
        return kind.model_validate(right)
    except ValidationError:
        return None


def _contradictions(recipe: Recipe, mistakes: Sequence[str]) -> list[str]:
    """Contradictions between settings that are right by themselves; a mistake starts with the setting's name."""
    wrong = [mistake.partition(":")[0] for mistake in mistakes]
    return [str(found) for found in find_contradictions(recipe) if not found.is_about(wrong)]


def with_task(recipe: Recipe, task: str) -> Recipe:
    """Set a task that was guessed, and check `decoding` again for that task."""
    if recipe.task == task:
        return recipe
    values = {name: getattr(recipe, name) for name in recipe.model_fields_set if name in Recipe.model_fields}
    values |= {"task": task, "decoding": recipe.decoding.model_dump(exclude_unset=True)}
    try:
        return recipe_class(task).model_validate(values)
    except ValidationError as error:
        raise RecipeError.of([in_words(entry) for entry in error.errors()], where=f"task {task}") from None


def _find_task(raw: Raw) -> tuple[str, list[str]]:
    """Return the task that is named, or the one whose section is present; empty if the data decides."""
    name, known = raw.get("task", ""), registered_tasks.names()
    if not isinstance(name, str):
        return "", [f"task: expected {one_of(known)}, found {format_value(name)}."]
    if name and name not in known:
        close = closest(name, known)
        hint = f" Did you mean '{close}'?" if close else ""
        return "", [f"task: expected {one_of(known)}, found {format_value(name)}.{hint} {PLUGIN_HINT}"]
    return name or next((section for section in raw if section in task_sections()), ""), []


def _with_kinds(model: Raw) -> Raw:
    """Fill in the default kinds of model and cell."""
    cell = model.get("cell")
    whole = {"cell": {"kind": DEFAULT_KINDS["model.cell"], **cell}} if isinstance(cell, dict) else {}
    return {"kind": DEFAULT_KINDS["model"], **model, **whole}


def _reject_other_formats(version: object, *, where: str) -> None:
    if isinstance(version, bool) or not isinstance(version, int) or version < 1:
        raise RecipeError(
            f"format: expected a whole number from 1 to {FORMAT}, found {format_value(version)}.",
            where=where,
            cure="Leave it out.",
        )
    if version > FORMAT:
        raise RecipeError(
            f"the recipe has format {version}, but this version of seqlab reads formats up to {FORMAT}: it was"
            " written by a newer version.",
            where=where,
            cure="Update seqlab: pip install --upgrade seqlab (in a checkout: git pull)",
        )


def _shipped(name: str) -> str:
    return resources.files("seqlab.recipes").joinpath(f"{name}.toml").read_text(encoding="utf-8")


def _read_file(what: str) -> str:
    """Read the text of a recipe file, with an explanation if the path is something else."""
    path = Path(what)
    if path.is_dir():
        raise RecipeError(
            "is a folder, not a recipe.",
            where=what,
            cure="To train on a folder of data, rename it so that it does not end in .toml.",
        )
    if not path.is_file():
        raise _missing(path)
    try:
        with path.open("rb") as file:
            content = file.read(LARGEST_RECIPE + 1)
        if len(content) > LARGEST_RECIPE:
            raise RecipeError(
                "is larger than 1 MB, too large for a recipe.", where=what, cure="Is this the right file?"
            )
        return content.decode("utf-8-sig")
    except OSError as error:
        raise RecipeError(
            f"cannot be read ({error.strerror}).", where=what, cure="Check the permissions of the file."
        ) from error
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise RecipeError(
            "is not UTF-8 text.",
            where=f"{what}, line {line}",
            cure="Is this the right file? Save it as UTF-8.",
        ) from error


def _missing(path: Path) -> RecipeError:
    """Suggest recipes with similar names in the same folder, and the shipped ones."""
    siblings = sorted(entry.name for entry in path.parent.glob("*.toml")) if path.parent.is_dir() else []
    close = closest(path.name, [*siblings, *shipped_recipes()])
    cure = (f"Did you mean '{close}'? " if close else "") + f"Shipped recipes: {listed(shipped_recipes())}."
    return RecipeError("there is no such recipe file.", where=str(path), cure=cure)


def _sentence(error: Exception) -> str:
    text = str(error)
    return text if text.endswith(".") else f"{text}."
