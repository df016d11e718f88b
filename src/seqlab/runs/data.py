"""A recipe -> the three parts of its data, with everything that was guessed spelled out."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from seqlab.core.errors import DataError, RecipeError, nearest
from seqlab.datasets.base import datasets
from seqlab.recipes.recipe import Recipe
from seqlab.sources.base import Source, TextSource
from seqlab.sources.columns import require_columns
from seqlab.sources.inference import guess
from seqlab.sources.open import open_parts, open_source
from seqlab.sources.series import Series
from seqlab.sources.splitting import hold_out


@dataclass(frozen=True)
class OpenedData:
    """The parts by name (train, and where there are any valid and test), the recipe with its guesses filled in, and why."""

    recipe: Recipe
    parts: dict[str, Source]
    reasons: list[str]


def open_data(recipe: Recipe) -> OpenedData:
    """Open, guess, and hold out what is missing."""
    if not recipe.data.train:
        raise RecipeError("no training data is named.", where="data.train", cure="For example: data.train=reviews.csv")
    if recipe.data.train in datasets.names() and not Path(recipe.data.train).exists():
        return _open_built_in(recipe)
    if not Path(recipe.data.train).exists():
        raise _missing(recipe.data.train)
    parts = open_parts(recipe.data.train, recipe.data)
    recipe, reasons = _guess(recipe, parts["train"])
    for name, path in (("valid", recipe.data.valid), ("test", recipe.data.test)):
        if path:
            parts[name] = open_parts(path, recipe.data).get(name) or open_source(path, recipe.data)
    parts = {name: _as_sequences(recipe, source) for name, source in parts.items()}
    for source in parts.values():
        require_columns(source, [recipe.data.label, *([recipe.data.text] if "steps" not in source.columns else [])])
    return _hold_out(recipe, parts, reasons)


def open_more(recipe: Recipe, path: str) -> Source:
    """Further data for a finished run, read the way its training data was. A folder with a test part offers that."""
    if not Path(path).exists():
        raise _missing(path)
    parts = open_parts(path, recipe.data)
    return _as_sequences(recipe, parts.get("test") or parts["train"])


def _missing(path: str) -> DataError:
    """Not a file: say what is near, files in the folder as well as built-in datasets."""
    folder = Path(path).parent
    there = [entry.name for entry in folder.iterdir()] if folder.is_dir() else []
    return DataError("there is no such file or folder.", where=path, cure=nearest(Path(path).name, [*there, *datasets.names()]))


def _open_built_in(recipe: Recipe) -> OpenedData:
    dataset = datasets.get(recipe.data.train)()
    recipe = recipe.model_copy(update={"task": recipe.task or dataset.task})
    for name, value in dataset.settings.items():
        section, _, key = name.partition(".")
        if not getattr(getattr(recipe, section), key):
            recipe = recipe.changed(section, **{key: value})
    return OpenedData(recipe, dataset.splits(), [f"built-in dataset '{recipe.data.train}': {dataset.sentence}"])


def _guess(recipe: Recipe, train: Source) -> tuple[Recipe, list[str]]:
    """Fill in the task and the columns that the recipe leaves open."""
    found = guess(train, settings=recipe.data)
    wanted = recipe.task or found.task
    data = {"text": found.text, "label": found.label if wanted == "classification" else "", "sequence": found.sequence, "features": found.features}
    if wanted == "classification" and not found.label:
        raise DataError(
            "classification needs a label, but no column looks like one.",
            where=train.name,
            cure="Name it with data.label=NAME, or use task=language_model.",
        )
    if wanted == "language_model" and not found.text:
        raise DataError("a language model needs text, but no column looks like text.", where=train.name, cure="Name it with data.text=NAME.")
    reasons = found.reasons if wanted == found.task else [reason for reason in found.reasons if "task=" not in reason and "label" not in reason]
    recipe = recipe.model_copy(update={"task": wanted})
    return recipe.changed("data", **data), reasons


def _as_sequences(recipe: Recipe, source: Source) -> Source:
    """Tables with one row per step are joined to one row per sequence."""
    if not recipe.data.sequence:
        return source
    return Series(source, sequence=recipe.data.sequence, label=recipe.data.label, features=recipe.data.features)


def _hold_out(recipe: Recipe, parts: dict[str, Source], reasons: list[str]) -> OpenedData:
    """Take validation and test parts from the training data where no file names them."""
    if recipe.task == "language_model" and isinstance(parts["train"], TextSource) and recipe.data.split == "content":
        recipe = recipe.changed("data", split="tail")  # shuffled lines are no text
    shares = {name: 0.0 if name in parts else getattr(recipe.data, f"{name}_share") for name in ("valid", "test")}
    if not any(shares.values()):
        return OpenedData(recipe, parts, reasons)
    keys = [recipe.data.sequence or recipe.data.text] if recipe.data.split == "content" else []
    splits = hold_out(
        parts["train"],
        how=recipe.data.split,
        valid_share=shares["valid"],
        test_share=shares["test"],
        seed=recipe.training.seed,
        key_columns=keys,
    )
    taken = " and ".join(f"{share:.0%} for {name}" for name, share in shares.items() if share)
    how = {"content": "by content", "random": "at random", "tail": "from the end"}[recipe.data.split]
    reasons = [*reasons, f"held out {taken}, {how}; other data: data.valid=FILE data.test=FILE"]
    return OpenedData(recipe, {**splits.named(), **{name: part for name, part in parts.items() if name != "train"}}, reasons)
