"""Complete a user's recipe: open the data, find the task, and fill in every default with its reason."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from seqlab.core.notify import Notify
from seqlab.recipes.read import with_task
from seqlab.recipes.recipe import Recipe
from seqlab.runs.data import RunData, open_data
from seqlab.runs.evaluation import reject_unsupported
from seqlab.runs.folder.layout import read_recipe
from seqlab.runs.run import Run
from seqlab.runs.train.reading_time import reading_warnings
from seqlab.runs.transfer.distillation import find_teacher
from seqlab.runs.transfer.pretrained_vectors import fit_to_vectors
from seqlab.runs.transfer.source_weights import digest_of_weights
from seqlab.runs.transfer.warm_start import (
    find_source,
    inherit_recipe,
    reject_fine_tuning_settings,
    reject_incompatible_settings,
)
from seqlab.tasks.spec import find_spec
from seqlab.training.budget import DEFAULT_EPOCHS, DEFAULT_MINUTES

DEFAULT_BATCH_SIZE = 32


@dataclass(frozen=True)
class FilledRecipe:
    """A recipe with every default filled in, its opened data, and the runs that it names."""

    recipe: Recipe
    opened: RunData
    source: Run | None
    """The run to fine-tune."""
    teacher: Run | None
    """The run whose probabilities are distilled."""
    reasons: list[str]
    warnings: list[str]


def fill_recipe(recipe: Recipe, *, threads: int, on_stage: Notify, on_note: Notify) -> FilledRecipe:
    """Open the data and fill in the defaults of the recipe."""
    source = _load_source(recipe, on_stage=on_stage)
    for warning in reading_warnings(recipe):
        on_note(f"WARNING: {warning}")
    on_stage("reading the data")
    opened = _open(recipe, source, on_note=on_note)
    recipe, inherited = _inherit(opened.recipe, source)
    teacher, recipe = find_teacher(recipe, on_stage=on_stage)
    reject_unsupported(recipe)
    no_effect = find_spec(recipe.task).check_ignored(
        opened.recipe
    )  # inherited settings were not set by the user
    recipe, reasons = _fill_defaults(recipe, opened)
    recipe = _resolve_paths(_fill_training(recipe, threads=threads))
    return FilledRecipe(recipe, opened, source, teacher, inherited + reasons, opened.warnings + no_effect)


def _load_source(recipe: Recipe, *, on_stage: Notify) -> Run | None:
    """Load the run that a recipe starts from, after checking that both are compatible."""
    reject_fine_tuning_settings(recipe.start)
    if not recipe.start.run:
        return None
    folder = find_source(recipe.start)
    reject_incompatible_settings(recipe, read_recipe(folder))
    on_stage(f"loading {folder}")
    return Run.load(folder)


def _open(recipe: Recipe, source: Run | None, *, on_note: Notify) -> RunData:
    """Open the data; plain text is for the task of the source if that was trained on plain text too and no
    task is set.
    """
    if source is None or recipe.task:
        return open_data(recipe, on_note=on_note)
    notes: list[str] = []
    opened = open_data(recipe, on_note=notes.append)
    if find_spec(opened.recipe.task).is_text_stream and find_spec(source.recipe.task).is_text_stream:
        return open_data(with_task(recipe, source.recipe.task), on_note=on_note)
    for note in notes:
        on_note(note)
    return opened


def _inherit(recipe: Recipe, source: Run | None) -> tuple[Recipe, list[str]]:
    """Copy tokens and network from the run to start from, and the digest of its weights."""
    if source is None:
        return recipe, []
    recipe, reasons = inherit_recipe(recipe, source.recipe, source.folder)
    digest = digest_of_weights(source, expected=recipe.start.digest, where="start.digest")
    return recipe.changed("start", digest=digest), reasons


def _fill_defaults(recipe: Recipe, opened: RunData) -> tuple[Recipe, list[str]]:
    """Fill in the defaults of the task for the data, and sizes that pretrained vectors require."""
    model_settings = recipe.model.model_fields_set if "model" in recipe.model_fields_set else set()
    recipe, reasons = find_spec(recipe.task).fill_defaults(recipe, opened.parts["train"])
    recipe, vector_reasons = fit_to_vectors(recipe, user_settings=model_settings)
    return recipe, reasons + vector_reasons + _slow_choices(recipe)


def _slow_choices(recipe: Recipe) -> list[str]:
    """Warn about settings that slow down every step."""
    if getattr(recipe.model, "attention_dropout", 0.0) <= 0:
        return []
    return [
        (
            "attention dropout does not use the fast attention kernel: each step is 1.1–3× slower; set"
            " model.attention_dropout=0 to disable"
        )
    ]


def _fill_training(recipe: Recipe, *, threads: int) -> Recipe:
    training = recipe.training
    changes: dict[str, Any] = {"threads": threads}
    if not (training.batch_size or training.batch_tokens):  # a task without a default
        changes["batch_size"] = DEFAULT_BATCH_SIZE
    if not (training.steps or training.epochs or training.minutes):
        changes |= {"minutes": DEFAULT_MINUTES, "epochs": DEFAULT_EPOCHS}
    return recipe.changed("training", **changes)


def _resolve_paths(recipe: Recipe) -> Recipe:
    """Make paths absolute, so that a run can be resumed from any folder."""
    paths = {
        name: str(Path(path).resolve())
        for name in ("train", "valid", "test")
        if (path := getattr(recipe.data, name)) and Path(path).exists()
    }
    return recipe.changed("data", **paths)
