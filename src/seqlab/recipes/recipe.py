"""The recipe: every setting of a run, with its default and its description."""

from __future__ import annotations

from functools import cache
from typing import Any, TypeVar

import tomli_w
from pydantic import Field, create_model

from seqlab.core.settings import Settings, sentence_of
from seqlab.decoding.settings import DecodingSettings
from seqlab.metrics.settings import EvaluationSettings
from seqlab.models.decoders.settings import DecoderSettings
from seqlab.models.settings.bag import BagSettings
from seqlab.models.settings.recurrent import RecurrentSettings
from seqlab.models.settings.section import ModelSettings
from seqlab.recipes.task_registry import registered_tasks
from seqlab.sources.settings import DataSettings
from seqlab.tokens.settings import TokenSettings
from seqlab.training.settings import (
    DistillationSettings,
    ScheduledSamplingSettings,
    StartSettings,
    TrainingSettings,
)

FORMAT = 2
Section = TypeVar("Section", bound=Settings)


class Recipe(Settings):
    """Everything that defines a run. Saved in the run folder with every default filled in.

    A recipe whose task is known also has a section with the task's name (`recipe_class`).
    """

    format: int = Field(FORMAT, description="Version of the recipe format.")
    task: str = Field(
        "",
        description="The task: classification, tagging, language_model, …; guessed from the data if empty.",
    )
    data: DataSettings = Field(default_factory=DataSettings, description="Files, columns and held-out data.")
    tokens: TokenSettings = Field(
        default_factory=TokenSettings, description="The tokenizer: how text becomes token ids."
    )
    model: ModelSettings = Field(
        default_factory=RecurrentSettings,
        description="The network; a short name such as lstm can replace the whole section.",
    )
    decoder: DecoderSettings = Field(
        default_factory=DecoderSettings, description="The decoder of an encoder-decoder."
    )
    bag: BagSettings = Field(
        default_factory=BagSettings,
        description="Bag of n-grams for a classifier, alone or combined with a network.",
    )
    training: TrainingSettings = Field(
        default_factory=TrainingSettings,
        description="Budget, batches, optimizer and early stopping.",
    )
    scheduled_sampling: ScheduledSamplingSettings = Field(
        default_factory=ScheduledSamplingSettings,
        description="How often a decoder reads its own predictions during training.",
    )
    distillation: DistillationSettings = Field(
        default_factory=DistillationSettings,
        description="Knowledge distillation: learn from the probabilities of a finished run in addition to the targets.",
    )
    start: StartSettings = Field(
        default_factory=StartSettings,
        description="Fine-tuning: the run to start from, and which parts are frozen.",
    )
    decoding: DecodingSettings = Field(
        default_factory=DecodingSettings,
        description="How sequences are generated: greedily, by beam search, or by sampling.",
    )
    evaluation: EvaluationSettings = Field(
        default_factory=EvaluationSettings,
        description="Metrics to compute in addition to those of the task.",
    )

    def section(self, kind: type[Section]) -> Section:
        """Return the section with settings of this class, such as that of the recipe's task."""
        for name in type(self).model_fields:
            if isinstance(value := getattr(self, name), kind):
                return value
        raise LookupError(f"a recipe of the task '{self.task}' has no {kind.__name__}")

    def has_same_task(self, other: Recipe) -> bool:
        """Whether two recipes are for the same task, whichever that is."""
        return self.task == other.task

    def to_toml(self) -> str:
        values = self.model_dump()
        first = {name: values.pop(name) for name in ("format", "task", self.task) if name in values}
        return tomli_w.dumps({**first, **values})

    def changed(self, section: str, **values: Any) -> Recipe:
        """Return a copy with some settings of a section replaced."""
        settings: Settings = getattr(self, section)
        assert values.keys() <= type(settings).model_fields.keys(), f"{section} has no {', '.join(values)}"
        return self.model_copy(update={section: settings.model_copy(update=values)})

    def with_defaults(self, section: str, **values: Any) -> Recipe:
        """Return a copy with other defaults for those settings of a section that the user did not set."""
        user_settings = getattr(self, section).model_fields_set
        return self.changed(
            section, **{name: value for name, value in values.items() if name not in user_settings}
        )


def recipe_class(task: str) -> type[Recipe]:
    """Return the recipe class of a task: with the section of the task, and its version of `decoding`."""
    if not task:
        return Recipe
    spec: Any = registered_tasks.get(task)
    return _recipe_class(task, spec)


@cache
def _recipe_class(task: str, spec: type[Any]) -> type[Recipe]:
    """Build one class per registered spec, so that recipes of a task compare equal."""
    decoding = spec.decoding
    help_of_decoding = Recipe.model_fields["decoding"].description
    fields: dict[str, Any] = {
        "decoding": (decoding, Field(default_factory=decoding, description=help_of_decoding))
    }
    settings = task_settings(task)
    if settings.model_fields:
        fields[task] = (settings, Field(default_factory=settings, description=sentence_of(settings)))
    return create_model("Recipe", __base__=Recipe, __doc__=Recipe.__doc__, **fields)


def task_settings(name: str) -> type[Settings]:
    """Return the settings class of this task alone."""
    settings: type[Settings] = registered_tasks.get(name).settings
    if settings.model_fields and name in Recipe.model_fields:
        raise ValueError(
            f"a task with settings cannot be called '{name}': a recipe already has a section of that name"
        )
    return settings
