"""What the rest of seqlab knows about a task before it loads a network: plain facts, without torch."""

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
"""Settings that only tasks with a source and a target read."""
OF_IMAGE_FILES = ("data.images", "data.image_size")
"""Settings that only a task that opens image files reads."""
OF_LABELED_BATCHES = ("training.group_by_length", "training.pad_to")
"""Settings that only the batches of labeled sequences read."""
BATCH_LAYOUT = ("training.batch_tokens", *OF_LABELED_BATCHES)
"""Settings that only arrange batches: without effect they are announced, since the model is the one that was
asked for. Others are refused.
"""


class TaskSpec(DataSpec):
    """One task as recipes, data, commands and documents see it.

    Other packages ask these facts instead of comparing the names of tasks, so that a new task is one new
    folder. `find_columns` and `check_rows` come from `DataSpec`. A built-in task is described by the docstring
    of its file, a plug-in by that of its class.
    """

    settings: ClassVar[type[Settings]] = Settings
    """The settings that only this task has: the section of a recipe with the task's name.

    Parts read them with `recipe.section(MySettings)`.
    """
    decoding: ClassVar[type[DecodingSettings]] = NoDecoding
    """The section `decoding` as this task understands it."""
    guess_order: ClassVar[int] = 100
    """Where several tasks fit some data, the one with the lowest number is chosen."""
    title: ClassVar[str] = ""
    """The task in the sentence that says why it was chosen; its name when empty."""
    pipeline_tag: ClassVar[str] = ""
    """The task's name on the Hugging Face Hub, for the model card; empty where there is none."""
    unit: ClassVar[str] = "characters"
    """What the length of an input is counted in, where inputs are text."""
    predicts_tokens: ClassVar[bool] = False
    """Whether the head predicts tokens of the input vocabulary.

    Its weights then fit every run with the same tokens.
    """
    generates: ClassVar[bool] = False
    """Whether predictions are sequences that a decoder generates, with a beam or by sampling."""
    continues_text: ClassVar[bool] = False
    """Whether it continues a prompt (`seqlab generate`)."""
    answers_per_sequence: ClassVar[bool] = False
    """Whether the network pools a whole sequence into one vector and answers once."""
    is_causal: ClassVar[bool] = False
    """Whether the network must not see later steps."""
    needs_both_sides: ClassVar[bool] = False
    """Whether the network must see later steps."""
    has_class_labels: ClassVar[bool] = False
    """Whether the label column holds classes that can be counted and can conflict."""
    supports_metrics: ClassVar[bool] = False
    """Whether an evaluation holds truths and predictions, from which further metrics can be computed."""
    supports_distillation: ClassVar[bool] = False
    """Whether the loss can include the outputs of a teacher."""

    ignored: ClassVar[tuple[str, ...]] = ()
    """Settings by their dotted names, and whole sections, that the parts of the task never read."""

    @property
    def description(self) -> str:
        return self.title or self.name

    @abstractmethod
    def fits(self, source: Source, data: DataSettings, roles: ColumnRoles | None) -> bool:
        """Whether data looks as if it was made for this task.

        `roles` is None where the settings or the format ask for pairs.
        """

    def why(self, source: Source, data: DataSettings, roles: ColumnRoles | None) -> list[str]:
        """Why this task was chosen for some data, and how to choose another."""
        return [] if roles is None else [f"{roles.evidence}: {self.description}; {roles.alternative}"]

    @abstractmethod
    def fill_defaults(self, recipe: Recipe, train: Source) -> tuple[Recipe, list[str]]:
        """Fill in what the recipe leaves to the task, from a look at the data; say why, and which setting
        decides otherwise.

        Left open are `tokens.kind` (""), `training.batch_size` (0; 32 if it stays open), and the model where
        "model" is not in `recipe.model_fields_set`. Raises RecipeError for settings that contradict each other;
        those that have no effect on the task are listed in `ignored`.
        """

    def check_ignored(self, recipe: Recipe) -> list[str]:
        """Refuse settings without effect on the task, all at once; sentences about those that only arrange
        batches.
        """
        changed = [name for name in self.ignored for name in _changed(recipe, name)]
        sentences = {
            name: f"{format_value(attrgetter(name)(recipe))} has no effect on the task {recipe.task}."
            f" Leave it out; tasks that use it: {', '.join(_tasks_with(name)) or 'none'}."
            for name in changed
        }
        refused = [name for name in changed if name not in BATCH_LAYOUT]
        if len(refused) == 1:
            raise RecipeError(sentences[refused[0]], where=refused[0])
        if refused:
            raise RecipeError.of([f"{name}: {sentences[name]}" for name in refused], where="")
        return [f"{name}: {sentence}" for name, sentence in sentences.items()]

    @abstractmethod
    def load_parts(self) -> TaskParts:
        """The parts that need torch: codec, network, objective, evaluator, predictor."""

    def inherit_settings(self, recipe: Recipe, source: Recipe) -> Recipe:
        """Settings that must be as in the run whose tokens are used."""
        return recipe

    def inherit_defaults(self, recipe: Recipe, source: Recipe) -> Recipe:
        """Settings of the run from which training starts, where the recipe sets none."""
        return recipe

    def extra_embedding_size(self, recipe: Recipe, width: int) -> int:
        """Features that join the word vectors of the given width at the input of the network."""
        return 0

    def usual_warning(self, data: DataSettings) -> str:
        """Part of a warning of the data survey that is normal for this task; empty where none is."""
        return ""

    def survey_source(self, source: Source, data: DataSettings) -> Source:
        """The source as the data survey compares its rows."""
        return source

    def example_commands(self, folder: Path, recipe: Recipe, example: str) -> list[str]:
        """Commands that ask a trained model something, ready to paste.

        `example` is an input that the model can read.
        """
        data, run = recipe.data, quote(str(folder))
        if data.sequence:
            return [f"seqlab predict {run} --file {quote(str(data.train))}"]
        argument = quote(example) if set(example) & set('"$`\\!') else f'"{example}"'
        return [f"seqlab predict {run} {argument}"] if data.text else []


task_specs: Registry[type[TaskSpec]] = registered_tasks


def find_spec(name: str) -> TaskSpec:
    """The spec of a task by name."""
    return _single_spec(task_specs.get(name))


@cache
def _single_spec(kind: type[TaskSpec]) -> TaskSpec:
    return kind()


def _changed(recipe: Recipe, name: str) -> list[str]:
    """The setting, or the settings of a section, whose value is not the default."""
    section, _, setting = name.partition(".")
    settings = getattr(recipe, section)
    defaults = type(settings)()
    names = [setting] if setting else list(type(settings).model_fields)
    return [f"{section}.{each}" for each in names if getattr(settings, each) != getattr(defaults, each)]


def _tasks_with(name: str) -> list[str]:
    """The tasks that read a setting."""
    return [
        task for task in task_specs.names() if not {name, name.partition(".")[0]} & {*find_spec(task).ignored}
    ]
