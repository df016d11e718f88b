"""The part of a task that knows how rows become arrays and how outputs become words."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Self

from numpy.typing import NDArray

from seqlab.core.errors import UsageError
from seqlab.recipes.recipe import Recipe
from seqlab.sources.base import Source
from seqlab.tasks.split import Split


@dataclass(frozen=True)
class Codec(ABC):
    """Tokenizers, labels and scalers, fitted on the training split and saved with the run.

    A codec never changes once it is fitted, so any number of threads may use one. The loaders of
    `tasks.labeled.split` also ask it for `collate(split, rows) -> Batch`.
    """

    recipe: Recipe
    version: ClassVar[int] = 1
    """Raise it in a class whose code encodes anything differently than before, so that older cached arrays
    are not used. The versions of its base classes count too.
    """

    @classmethod
    @abstractmethod
    def fit(cls, recipe: Recipe, train: Source) -> Self:
        """Learn vocabularies and scales, from the training split only."""

    @classmethod
    @abstractmethod
    def load(cls, recipe: Recipe, folder: Path) -> Self:
        """The codec that `save` wrote."""

    @abstractmethod
    def save(self, folder: Path) -> None:
        """Write what `load` needs, but not the recipe: the run keeps it."""

    @abstractmethod
    def encode_split(self, name: str, source: Source) -> Split:
        """Encode a part of the data, or open its cached arrays. The name is train, valid, test or another.

        Arrays are cached (`batches.cache.cached_store`) under a key that names everything they depend on:
        `cache_key()`, the fingerprint of the rows (`source=rows`), a digest of what is fitted, and every
        setting that is read here.
        """

    def cache_key(self) -> dict[str, Any]:
        """What every key of a cached store starts with: the task, and the code of the codec by the names and
        versions of its classes.
        """
        versions = [
            f"{kind.__module__}.{kind.__qualname__} {kind.version}"
            for kind in type(self).__mro__
            if issubclass(kind, Codec)
        ]
        return {"task": self.recipe.task, "codec": versions}

    def encode(self, inputs: Sequence[Any]) -> list[NDArray[Any]]:
        """Inputs as the steps that the backbone reads, one array each; for vectors and inspection."""
        raise UsageError(f"a run of the task {self.recipe.task} has no vectors.")

    def pieces(self, steps: NDArray[Any]) -> list[str]:
        """The text of each step."""
        raise UsageError(f"the steps of the task {self.recipe.task} are not pieces of text.")

    def label_names(self) -> list[str]:
        """The names of the classes or tags that the task predicts; empty where it predicts none."""
        return []

    def example_input(self) -> str:
        """An input that a user could type, for the commands that a report suggests."""
        return "some text"
