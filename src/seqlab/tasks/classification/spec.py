"""Predict one class for every sequence: reviews, tweets, names, time series, images read row by row."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Literal

from pydantic import Field

from seqlab.core.errors import RecipeError
from seqlab.core.settings import Settings
from seqlab.recipes.contradictions import Contradiction, contradiction_in
from seqlab.recipes.recipe import Recipe
from seqlab.sources.base import Row, Source, label_of
from seqlab.sources.settings import DataSettings
from seqlab.tasks.labeled.rows import names_or_nothing
from seqlab.tasks.labeled.spec import NamedAnswerSpec
from seqlab.tasks.spec import task_specs

if TYPE_CHECKING:
    from seqlab.tasks.parts import TaskParts


class ClassificationSettings(Settings):
    """Class weights."""

    class_weights: Literal["none", "balanced"] = Field(
        "none",
        description=(
            "With balanced, rare classes get more weight, N / (classes · rows), and macro-F1 selects the best"
            " model."
        ),
    )


@task_specs.register("classification")
class ClassificationSpec(NamedAnswerSpec):
    """Predicts one class for every sequence."""

    name = "classification"
    pipeline_tag = "text-classification"
    settings = ClassificationSettings
    guess_order = 60
    answer = "class"
    needs = "a label"
    supports_distillation = True

    def read_answer(self, row: Row, data: DataSettings) -> str:
        return label_of(row, data.label)

    def class_names(self, data: DataSettings) -> Callable[[Row], list[str]]:
        return names_or_nothing(lambda row: [label_of(row, data.label)])

    def contradictions(self, recipe: Recipe) -> list[Contradiction]:
        return super().contradictions(recipe) + contradiction_in(lambda: reject_weighted_teacher(recipe))

    def fill_defaults(self, recipe: Recipe, train: Source) -> tuple[Recipe, list[str]]:
        reject_weighted_teacher(recipe)
        return super().fill_defaults(recipe, train)

    def load_parts(self) -> TaskParts:
        from seqlab.tasks.classification.parts import PARTS

        return PARTS


def reject_weighted_teacher(recipe: Recipe) -> None:
    if recipe.section(ClassificationSettings).class_weights == "balanced" and recipe.distillation.run:
        raise RecipeError(
            "class weights do not apply to the outputs of a teacher.",
            where="classification.class_weights",
            cure="Remove one of them (the other is distillation.run).",
        )
