"""The spec of a task: plain facts about it that do not need torch."""

from __future__ import annotations

from abc import abstractmethod
from functools import cache
from operator import attrgetter
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, ClassVar

from seqlab.core.errors import RecipeError
from seqlab.core.registry import Registry
from seqlab.core.settings import Settings
from seqlab.decoding.settings import DecodingSettings, NoDecoding
from seqlab.models.settings.linear import LinearSettings
from seqlab.models.settings.recurrent import RecurrentSettings
from seqlab.models.settings.section import require_sequence_settings
from seqlab.recipes.contradictions import Contradiction, contradiction_in
from seqlab.recipes.problems import format_value
from seqlab.recipes.recipe import Recipe
from seqlab.recipes.task_registry import registered_tasks
from seqlab.sources.base import Source
from seqlab.sources.column_roles import ColumnRoles
from seqlab.sources.data_spec import DataSpec
from seqlab.sources.settings import DataSettings

if TYPE_CHECKING:
    from seqlab.tasks.parts import TaskParts

OF_PAIRS = (
    "decoder",
    "scheduled_sampling",
    "training.batch_tokens",
    "tokens.shared",
    "tokens.target_kind",
    "tokens.target_size",
    "data.language",
)
"""Settings that only tasks with a source and a target use."""
OF_IMAGE_FILES = ("data.images", "data.image_size")
"""Settings that only tasks with image files use."""
OF_SERIES = ("data.time", "data.date_order", "data.horizon", "data.known", "data.static")
"""Settings that only forecasting uses."""
OF_LABELED_BATCHES = ("training.group_by_length", "training.pad_to")
"""Settings that only tasks with labeled sequences use for their batches."""
BATCH_LAYOUT = ("training.batch_tokens", *OF_LABELED_BATCHES)
"""Settings that only affect batching: without effect they cause a note, because the model is the same.
Others are rejected.
"""


class TaskSpec(DataSpec):
    """One task as recipes, data, commands and documents see it.

    Other packages use these facts instead of comparing task names, so that a new task is one new folder.
    `find_columns` and `check_rows` come from `DataSpec`. The description of a built-in task is the
    docstring of its file, that of a plug-in the docstring of its class.
    """

    settings: ClassVar[type[Settings]] = Settings
    """The settings of this task alone: the section of a recipe with the task's name.

    Parts read them with `recipe.section(MySettings)`.
    """
    decoding: ClassVar[type[DecodingSettings]] = NoDecoding
    """The section `decoding` of this task."""
    guess_order: ClassVar[int] = 100
    """If several tasks fit the data, the one with the lowest number is chosen."""
    title: ClassVar[str] = ""
    """The task in the sentence that says why it was chosen; its name if empty."""
    pipeline_tag: ClassVar[str] = ""
    """The task's name on the Hugging Face Hub, for the model card; empty if there is none."""
    unit: ClassVar[str] = "characters"
    """The unit of the length of text inputs."""
    predicts_tokens: ClassVar[bool] = False
    """Whether the head predicts tokens of the input vocabulary.

    Its weights then fit every run with the same tokens.
    """
    generates: ClassVar[bool] = False
    """Whether predictions are sequences that a decoder generates, by beam search or sampling."""
    continues_text: ClassVar[bool] = False
    """Whether the task continues a prompt (`seqlab generate`)."""
    answers_per_sequence: ClassVar[bool] = False
    """Whether the network pools a whole sequence into one vector and answers once."""
    is_causal: ClassVar[bool] = False
    """Whether the network must not see later steps."""
    needs_both_sides: ClassVar[bool] = False
    """Whether the network must see later steps."""
    has_class_labels: ClassVar[bool] = False
    """Whether the label column has classes that can be counted and can conflict."""
    supports_metrics: ClassVar[bool] = False
    """Whether an evaluation has truths and predictions, from which other metrics can be computed."""
    supports_distillation: ClassVar[bool] = False
    """Whether the loss can include the outputs of a teacher."""

    ignored: ClassVar[tuple[str, ...]] = ()
    """Settings by their dotted names, and whole sections, that have no effect on the task."""

    @property
    def description(self) -> str:
        return self.title or self.name

    @abstractmethod
    def fits(self, source: Source, data: DataSettings, roles: ColumnRoles | None) -> bool:
        """Whether the data looks like data for this task.

        `roles` is None if the settings or the format ask for pairs.
        """

    def why(self, source: Source, data: DataSettings, roles: ColumnRoles | None) -> list[str]:
        """Explain why this task was chosen for the data, and how to choose another."""
        return [] if roles is None else [f"{roles.evidence}: {self.description}; {roles.alternative}"]

    @abstractmethod
    def fill_defaults(self, recipe: Recipe, train: Source) -> tuple[Recipe, list[str]]:
        """Fill in what the recipe leaves to the task from a sample of the data, with the reasons and the settings to
        change them.

        Not set are `tokens.kind` (""), `training.batch_size` (0; 32 by default), and the model if "model"
        is not in `recipe.model_fields_set`. Raises RecipeError for settings that contradict each other;
        those without effect on the task are listed in `ignored`.
        """

    def check_ignored(self, recipe: Recipe) -> list[str]:
        """Reject settings without effect on the task, all at once; returns notes about those that only
        affect batching.
        """
        changed = [name for name in self.ignored for name in _changed(recipe, name)]
        sentences = {
            name: f"{format_value(attrgetter(name)(recipe))} has no effect on the task {recipe.task}."
            f" Remove it; tasks that use it: {', '.join(_tasks_with(name)) or 'none'}."
            for name in changed
        }
        refused = [name for name in changed if name not in BATCH_LAYOUT]
        if len(refused) == 1:
            raise RecipeError(sentences[refused[0]], where=refused[0])
        if refused:
            raise RecipeError.of([f"{name}: {sentences[name]}" for name in refused], where="")
        return [f"{name}: {sentence}" for name, sentence in sentences.items()]

    def contradictions(self, recipe: Recipe) -> list[Contradiction]:
        """Settings that contradict the task or each other, as far as that is known without data."""
        found = contradiction_in(lambda: self.check_ignored(recipe))
        if recipe.evaluation.metrics and not self.supports_metrics:
            sentence = f"the task {recipe.task} does not predict labels, tags or text. Remove it."
            found.append(Contradiction(("evaluation.metrics",), sentence))
        if "model" not in recipe.model_fields_set or recipe.start.run:
            return found
        return found + self.network_contradictions(recipe)

    def network_contradictions(self, recipe: Recipe) -> list[Contradiction]:
        """Settings of the network that do not suit the task."""
        model = recipe.model
        needs_steps = not self.answers_per_sequence or isinstance(model, LinearSettings)
        if needs_steps and (found := contradiction_in(lambda: require_sequence_settings(model))):
            return found
        if isinstance(model, RecurrentSettings):
            return self._direction_contradictions(model)
        name = {"fixed_window": "context", "convolutional": "kernel_size"}.get(model.kind, "")
        if not name or self.is_causal or getattr(model, name) % 2:
            return []
        steps = getattr(model, name)
        sentence = f"{steps} steps have no center. Use {steps - 1} or {steps + 1}."
        return [Contradiction((f"model.{name}",), sentence)]

    def _direction_contradictions(self, model: RecurrentSettings) -> list[Contradiction]:
        if not model.bidirectional:
            return []
        if self.is_causal:
            sentence = (
                "a bidirectional network would see the future tokens that it has to predict. Set it to false;"
                " classification and tagging can use both directions."
            )
            return [Contradiction(("model.bidirectional",), sentence)]
        if self.answers_per_sequence and model.pooling == "last" and model.merge != "concat":
            sentence = (
                "'last' pools each direction at its own final step, but merged directions cannot be separated. Use"
                " model.pooling=max or model.pooling=mean, or keep the directions separate with model.merge=concat"
            )
            return [Contradiction(("model.pooling", "model.merge", "model.bidirectional"), sentence)]
        return []

    @abstractmethod
    def load_parts(self) -> TaskParts:
        """Import the parts that need torch: codec, network, objective, evaluator, predictor."""

    def inherit_settings(self, recipe: Recipe, source: Recipe) -> Recipe:
        """Copy settings that must match the run whose tokens are used."""
        return recipe

    def inherit_defaults(self, recipe: Recipe, source: Recipe) -> Recipe:
        """Copy settings from the run to start from that the recipe does not set."""
        return recipe

    def extra_embedding_size(self, recipe: Recipe, width: int) -> int:
        """Return the number of features that are concatenated with word vectors of the given size."""
        return 0

    def usual_warning(self, data: DataSettings) -> str:
        """Return a phrase of a data warning that is normal for this task; empty if there is none."""
        return ""

    def survey_source(self, source: Source, data: DataSettings) -> Source:
        """Return the source whose rows the data survey compares."""
        return source

    def example_commands(self, folder: Path, recipe: Recipe, example: str) -> list[str]:
        """Return commands that query a trained model, ready to paste.

        `example` is an input that the model can read.
        """
        data, run = recipe.data, quote(str(folder))
        if data.sequence:
            return [f"seqlab predict {run} --file {quote(str(data.train))}"]
        argument = quote(example) if set(example) & set('"$`\\!') else f'"{example}"'
        return [f"seqlab predict {run} {argument}"] if data.text else []


task_specs: Registry[type[TaskSpec]] = registered_tasks


def find_spec(name: str) -> TaskSpec:
    """Return the spec of a task by name."""
    return _single_spec(task_specs.get(name))


@cache
def _single_spec(kind: type[TaskSpec]) -> TaskSpec:
    return kind()


def _changed(recipe: Recipe, name: str) -> list[str]:
    """Return the setting, or the settings of a section, with values other than the default."""
    section, _, setting = name.partition(".")
    settings = getattr(recipe, section)
    defaults = type(settings)()
    names = [setting] if setting else list(type(settings).model_fields)
    return [
        f"{section}.{setting_name}"
        for setting_name in names
        if getattr(settings, setting_name) != getattr(defaults, setting_name)
    ]


def _tasks_with(name: str) -> list[str]:
    """Return the tasks that use a setting."""
    return [
        task for task in task_specs.names() if not {name, name.partition(".")[0]} & {*find_spec(task).ignored}
    ]
