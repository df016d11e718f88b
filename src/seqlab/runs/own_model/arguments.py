"""Check what `seqlab.Trainer` is given: a model, functions, examples and settings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from torch import Tensor, nn
from torch.utils.data import DataLoader, IterableDataset, TensorDataset

from seqlab.core.errors import DataError, RecipeError, UsageError, nearest
from seqlab.recipes.read import check
from seqlab.training.budget import DEFAULT_EPOCHS, DEFAULT_MINUTES
from seqlab.training.own_data import LOSS, Examples
from seqlab.training.settings import TrainingSettings

DEFAULT_BATCH_SIZE = 32
NO_EFFECT = (
    "batch_tokens",
    "group_by_length",
    "pad_to",
    "label_smoothing",
    "scale_with_budget",
    "find_learning_rate",
)
"""Settings of `training` that need seqlab's own data, loss or recipe."""


def check_parts(model: Any, loss: Any, metrics: Mapping[str, Any], monitor: str) -> None:
    if not isinstance(model, nn.Module):
        raise UsageError(
            f"expected a torch.nn.Module, found {type(model).__name__}.",
            where="model",
            cure='To train one of seqlab\'s models by its name: seqlab.train(FILE, model="lstm")',
        )
    for name, function in {LOSS: loss, **metrics}.items():
        if not callable(function):
            raise UsageError(
                f"expected a function of outputs and targets, found {type(function).__name__}.",
                where=name,
                cure="For example torch.nn.functional.cross_entropy.",
            )
    if LOSS in metrics:
        raise UsageError("a metric cannot be called 'loss'.", where="metrics=", cure="Choose another name.")
    if monitor not in (LOSS, *metrics):
        raise UsageError(
            f"there is no metric called '{monitor}'.",
            where="monitor=",
            cure=nearest(monitor, (LOSS, *metrics)),
        )


def read_settings(settings: Mapping[str, Any]) -> TrainingSettings:
    """Check the settings like those of a recipe, all at once, and fill in the defaults of a run."""
    try:
        training = check({"training": dict(settings)}, where="settings").training
    except RecipeError as error:
        raise RecipeError(
            without_section(error.what), where="Trainer", cure=without_section(error.cure)
        ) from None
    idle = [name for name in NO_EFFECT if name in training.model_fields_set]
    if idle:
        raise RecipeError(
            f"{', '.join(idle)}: no effect on a model of your own.",
            where="Trainer",
            cure="Leave it out. Batches come from collate=, and the loss is the one that you pass.",
        )
    changes: dict[str, Any] = {} if training.batch_size else {"batch_size": DEFAULT_BATCH_SIZE}
    if not (training.steps or training.epochs or training.minutes):
        changes |= {"minutes": DEFAULT_MINUTES, "epochs": DEFAULT_EPOCHS}
    return training.model_copy(update=changes)


def without_section(sentence: str) -> str:
    """Name settings as keyword arguments: `learning_rate`, not `training.learning_rate`."""
    return sentence.replace("training.", "")


def open_examples(data: Any, name: str) -> Examples:
    if isinstance(data, tuple) and data and all(isinstance(part, Tensor) for part in data):
        if len({len(part) for part in data}) > 1:
            counts = ", ".join(str(len(part)) for part in data)
            raise DataError(f"the tensors have different numbers of rows ({counts}).", where=f"{name}=")
        data = TensorDataset(*data)
    if isinstance(data, DataLoader | IterableDataset) or not (
        hasattr(data, "__getitem__") and hasattr(data, "__len__")
    ):
        raise DataError(
            f"expected examples with random access, found {type(data).__name__}.",
            where=f"{name}=",
            cure=(
                "Pass a list, a map-style Dataset or a tuple of tensors, because an exact resume has to find its place"
                " again. For a DataLoader: loader.dataset, with collate=loader.collate_fn and batch_size=NUMBER."
            ),
        )
    if not len(data):
        raise DataError("there are no examples.", where=f"{name}=", cure="Pass at least one.")
    examples: Examples = data
    return examples
