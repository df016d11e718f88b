"""The interface of built-in datasets: three splits that need no download, their task, and the settings they
require.
"""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from typing import ClassVar, Literal, Self

from seqlab.core.registry import Registry
from seqlab.sources.base import Source
from seqlab.sources.settings import DataSettings
from seqlab.sources.splitting import Splits

SEED = 0  # splits are the same for everyone, regardless of the run's seed


class BuiltInDataset(ABC):
    """A dataset by name. Its rows, their order and its splits are the same in every process."""

    name: ClassVar[str]
    description: ClassVar[str]
    task: ClassVar[
        Literal[
            "captioning",
            "classification",
            "language_model",
            "masked_language_model",
            "tagging",
            "translation",
        ]
    ]
    settings: ClassVar[dict[str, str]]  # required settings of a recipe, by dotted name

    @classmethod
    def from_settings(cls, settings: DataSettings) -> Self:
        """The dataset with the settings of a recipe; most have no settings."""
        return cls()

    @abstractmethod
    def splits(self) -> dict[str, Source]:
        """The splits train, valid and test; no text occurs in two of them."""


def to_sources(splits: Splits) -> dict[str, Source]:
    parts = splits.named()
    assert set(parts) == {"train", "valid", "test"}
    return parts


def shuffle_key(name: str) -> str:
    """A key that sorts names into the same random-looking order everywhere."""
    return hashlib.blake2b(name.encode(), digest_size=8).hexdigest()


datasets: Registry[type[BuiltInDataset]] = Registry("dataset", package="seqlab.datasets")
