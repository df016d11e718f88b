"""The codec of a task, which converts rows to arrays and outputs to text."""

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

    A codec never changes once it is fitted, so threads can share it. The loaders of `tasks.labeled.split`
    also call its `collate(split, rows) -> Batch`.
    """

    recipe: Recipe
    version: ClassVar[int] = 1
    """Increase it when a class encodes anything differently than before, so that older cached arrays are
    not used. The versions of base classes count too.
    """

    @classmethod
    @abstractmethod
    def fit(cls, recipe: Recipe, train: Source) -> Self:
        """Fit vocabularies and scales on the training split only."""

    @classmethod
    @abstractmethod
    def load(cls, recipe: Recipe, folder: Path) -> Self:
        """Load the codec that `save` wrote."""

    @abstractmethod
    def save(self, folder: Path) -> None:
        """Write what `load` needs, except the recipe, which the run saves."""

    @abstractmethod
    def encode_split(self, name: str, source: Source) -> Split:
        """Encode a part of the data, or open its cached arrays. The name is train, valid, test or another.

        Arrays are cached (`batches.cache.cached_store`) under a key that names everything they depend on:
        `cache_key()`, the fingerprint of the rows (`source=rows`), a digest of what is fitted, and every
        setting that is read here.
        """

    def cache_key(self) -> dict[str, Any]:
        """Return the start of every key of a cached store: the task, and the names and versions of the
        codec's classes.
        """
        versions = [
            f"{kind.__module__}.{kind.__qualname__} {kind.version}"
            for kind in type(self).__mro__
            if issubclass(kind, Codec)
        ]
        return {"task": self.recipe.task, "codec": versions}

    def encode(self, inputs: Sequence[Any]) -> list[NDArray[Any]]:
        """Encode inputs as the steps that the backbone reads, one array each; for vectors and inspection."""
        raise UsageError(f"a {self.recipe.task} run does not provide vectors.")

    def pieces(self, steps: NDArray[Any]) -> list[str]:
        """Return the text of each step."""
        raise UsageError(f"the steps of a {self.recipe.task} run are not text.")

    def label_names(self) -> list[str]:
        """Return the names of the classes or tags that the task predicts; empty if it predicts none."""
        return []

    def example_input(self) -> str:
        """Return an input that a user could type, for suggested commands."""
        return "some text"
