"""Predict the next token: characters, bytes, words or subwords of any text, code or tunes."""

from __future__ import annotations

from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Literal

from pydantic import Field

from seqlab.decoding.settings import SamplingSettings
from seqlab.recipes.recipe import Recipe
from seqlab.sources.base import Source
from seqlab.sources.column_roles import ColumnRoles
from seqlab.sources.settings import DataSettings
from seqlab.tasks.spec import task_specs
from seqlab.tasks.text.spec import TextSpec, WindowSettings

if TYPE_CHECKING:
    from seqlab.tasks.parts import TaskParts


class LanguageModelSettings(WindowSettings):
    """How a language model reads a text while it learns (truncated BPTT), and its softmax."""

    stateful: bool = Field(
        True,
        description=(
            "A recurrent model starts each window from the state at the end of the previous one; false starts"
            " from its initial state."
        ),
    )
    bptt_steps: int = Field(
        0,
        ge=0,
        description=(
            "Steps over which gradients of a recurrent model flow (truncated BPTT); 0: the whole window."
        ),
    )
    reset_at_documents: bool = Field(
        True,
        description=(
            "A recurrent model starts every document of a table, or line of words, from its initial state."
        ),
    )
    softmax: Literal["auto", "full", "sampled"] = Field(
        "auto",
        description=(
            "Softmax of an update: over the full vocabulary, or over a sample of it; auto samples above"
            " 10,000 tokens."
        ),
    )
    softmax_samples: int = Field(
        2048, ge=1, description="Tokens of a sampled softmax; frequent tokens are always among them."
    )


@task_specs.register("language_model")
class LanguageModelSpec(TextSpec):
    """The next token of a text."""

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

    def fill_defaults(self, recipe: Recipe, train: Source) -> tuple[Recipe, list[str]]:
        from seqlab.tasks.language_model.defaults import with_defaults

        return with_defaults(recipe, train)

    def example_commands(self, folder: Path, recipe: Recipe, example: str) -> list[str]:
        run = quote(str(folder))
        return [f'seqlab generate {run} --prompt "The "', f'seqlab predict {run} "The " --top 10']

    def load_parts(self) -> TaskParts:
        from seqlab.tasks.language_model.parts import PARTS

        return PARTS
