"""Knowledge distillation: a run learns from the outputs of a finished one."""

from __future__ import annotations

import tempfile
from pathlib import Path

import torch

from seqlab.core.errors import RecipeError, listed
from seqlab.core.files import sha256
from seqlab.core.notify import Notify
from seqlab.recipes.recipe import Recipe
from seqlab.runs.run import Run
from seqlab.runs.transfer.source_weights import digest_of_weights
from seqlab.runs.transfer.warm_start import other_tokens, with_words_of
from seqlab.tasks.codec import Codec
from seqlab.tasks.spec import find_spec
from seqlab.tasks.teacher import Teacher


def find_teacher(recipe: Recipe, *, on_stage: Notify) -> tuple[Run | None, Recipe]:
    """Load the teacher, if there is one, and set its path and the digest of its weights in the recipe."""
    settings = recipe.distillation
    if not settings.run:
        return None, recipe
    if not find_spec(recipe.task).supports_distillation:
        raise RecipeError(
            f"the task {recipe.task} does not support distillation.",
            where="distillation.run",
            cure="Remove it.",
        )
    on_stage(f"loading the teacher {settings.run}")
    run = Run.load(settings.run)
    if not recipe.has_same_task(run.recipe):
        raise RecipeError(
            f"the teacher was trained for the task {run.recipe.task}, but the task here is {recipe.task}.",
            where=f"distillation.run {settings.run}",
            cure="Use a teacher that was trained for the same task.",
        )
    if not recipe.start.run:  # a student that is trained from scratch uses the tokens of its teacher
        if mistakes := other_tokens(recipe, run.recipe):
            raise RecipeError.of(mistakes, where=f"distillation.run {settings.run}")
        recipe = with_words_of(recipe.model_copy(update={"tokens": run.recipe.tokens}), run.recipe)
    digest = digest_of_weights(run, expected=settings.digest, where="distillation.digest")
    return run, recipe.changed("distillation", run=str(run.folder.resolve()), digest=digest)


def build_teacher(recipe: Recipe, codec: Codec, run: Run | None, *, device: torch.device) -> Teacher | None:
    """Build the teacher from a run, which must have the same tokens and labels as the student."""
    if run is None:
        return None
    student, teacher = _digests(codec), _digests(run.codec)
    if wrong := sorted(
        name for name in student.keys() | teacher.keys() if student.get(name) != teacher.get(name)
    ):
        what = (
            "the teacher has different labels"
            if wrong == ["labels.json"]
            else f"the teacher has different tokens ({listed(wrong)} differ)"
        )
        raise RecipeError(
            f"{what}, so its outputs do not match those of the student.",
            where=f"distillation.run {run.folder}",
            cure=(
                "Teacher and student need the same tokens and labels: use a teacher that was trained on the same"
                " data."
            ),
        )
    settings = recipe.distillation
    return Teacher(run.model.to(device), weight=settings.weight, temperature=settings.temperature)


def _digests(codec: Codec) -> dict[str, str]:
    """Return a digest of every file that a codec saves: its tokens and labels."""
    with tempfile.TemporaryDirectory() as folder:
        codec.save(Path(folder))
        files = (path for path in Path(folder).rglob("*") if path.is_file())
        return {str(path.relative_to(folder)): sha256(path) for path in files}
