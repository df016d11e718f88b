"""The part of a task that knows how rows become arrays and how outputs become words."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from numpy.typing import NDArray

from seqlab.core.errors import UsageError
from seqlab.recipes.recipe import Recipe
from seqlab.sources.base import Source
from seqlab.tasks.split import Split


@dataclass(frozen=True)
class Codec(ABC):
    """Tokenizers, labels and scalers, fitted on the training split and saved with the run.

    A codec never changes once it is fitted, so any number of threads may use one. The loaders of
    `tasks.labeled.batches` also ask it for `collate(split, rows) -> Batch`.
    """

    recipe: Recipe

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
        the task, `split.ENCODING`, the fingerprint of the rows, a digest of what is fitted, and every setting
        that is read here. The key does not change with the code: raise ENCODING when you change how a
        released task encodes, and empty the cache while you develop one.
        """

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
