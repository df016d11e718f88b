"""What a built-in dataset is: three parts that need no download, the task they are for, and the settings they
come with.
"""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from typing import ClassVar, Literal, Self

from seqlab.core.registry import Registry
from seqlab.sources.base import Source
from seqlab.sources.settings import DataSettings
from seqlab.sources.splitting import Splits

SEED = 0  # parts are the same for everyone, whatever the seed of the run


class BuiltInDataset(ABC):
    """A dataset by name. Its rows, their order and its parts are the same in every process."""

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
    settings: ClassVar[dict[str, str]]  # what a recipe for it must say, by dotted name

    @classmethod
    def from_settings(cls, settings: DataSettings) -> Self:
        """The dataset as a recipe asks for it; most come in one form only."""
        return cls()

    @abstractmethod
    def splits(self) -> dict[str, Source]:
        """The parts train, valid and test; no text stands in two of them."""


def to_sources(splits: Splits) -> dict[str, Source]:
    parts = splits.named()
    assert set(parts) == {"train", "valid", "test"}
    return parts


def shuffle_key(name: str) -> str:
    """A key that sorts names into the same random-looking order everywhere."""
    return hashlib.blake2b(name.encode(), digest_size=8).hexdigest()


datasets: Registry[type[BuiltInDataset]] = Registry("dataset", package="seqlab.datasets")
