"""Predict the next token: characters, bytes, words or subwords of any text, code or music notation."""

from __future__ import annotations

from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Literal

from pydantic import Field

from seqlab.decoding.settings import SamplingSettings
from seqlab.recipes.contradictions import Contradiction, contradiction_in
from seqlab.recipes.recipe import Recipe
from seqlab.sources.base import Source
from seqlab.sources.column_roles import ColumnRoles
from seqlab.sources.settings import DataSettings
from seqlab.tasks.spec import task_specs
from seqlab.tasks.text.spec import TextSpec, WindowSettings

if TYPE_CHECKING:
    from seqlab.tasks.parts import TaskParts


class LanguageModelSettings(WindowSettings):
    """How a language model reads a text in training (truncated BPTT), and its softmax."""

    stateful: bool = Field(
        True,
        description=(
            "Carry the state of a recurrent model from window to window; false starts each window from the initial"
            " state."
        ),
    )
    bptt_steps: int = Field(
        0,
        ge=0,
        description=(
            "Steps over which gradients of a recurrent model flow (truncated BPTT); 0 for the whole window."
        ),
    )
    reset_at_documents: bool = Field(
        True,
        description=(
            "Reset the state of a recurrent model at every document of a table, or every line of words."
        ),
    )
    softmax: Literal["auto", "full", "sampled"] = Field(
        "auto",
        description=(
            "Softmax in training: over the full vocabulary, or a sampled softmax; auto samples above 10,000"
            " tokens."
        ),
    )
    softmax_samples: int = Field(
        2048, ge=1, description="Number of tokens in a sampled softmax; frequent tokens are always included."
    )


@task_specs.register("language_model")
class LanguageModelSpec(TextSpec):
    """Predicts the next token of a text."""

    name = "language_model"
    pipeline_tag = "text-generation"
    settings = LanguageModelSettings
    decoding = SamplingSettings
    title = "a language model"
    guess_order = 70
    is_causal = True
    continues_text = True
    supports_distillation = True

    def fits(self, source: Source, data: DataSettings, roles: ColumnRoles | None) -> bool:
        return roles is not None and roles.answer == "none"

    def contradictions(self, recipe: Recipe) -> list[Contradiction]:
        from seqlab.tasks.language_model.defaults import check_softmax

        return super().contradictions(recipe) + contradiction_in(lambda: check_softmax(recipe))

    def network_contradictions(self, recipe: Recipe) -> list[Contradiction]:
        from seqlab.tasks.language_model.defaults import check_bptt

        return super().network_contradictions(recipe) + contradiction_in(lambda: check_bptt(recipe))

    def fill_defaults(self, recipe: Recipe, train: Source) -> tuple[Recipe, list[str]]:
        from seqlab.tasks.language_model.defaults import with_defaults

        return with_defaults(recipe, train)

    def example_commands(self, folder: Path, recipe: Recipe, example: str) -> list[str]:
        run = quote(str(folder))
        return [f'seqlab generate {run} --prompt "The "', f'seqlab predict {run} "The " --top 10']

    def load_parts(self) -> TaskParts:
        from seqlab.tasks.language_model.parts import PARTS

        return PARTS
