"""Random letters for the datasets `copy` and `reverse`: distinct sequences, from half the requested length
to the full length.
"""

from __future__ import annotations

import random
import string
from abc import abstractmethod
from typing import Self

from seqlab.core.seeds import derive
from seqlab.datasets.base import SEED, BuiltInDataset, to_sources
from seqlab.sources.base import Source
from seqlab.sources.in_memory import InMemoryRows
from seqlab.sources.settings import DataSettings
from seqlab.sources.splitting import hold_out

NUM_ROWS = 8_000


def random_strings(name: str, length: int) -> list[str]:
    """Sequences of ⌈length / 2⌉ to length letters, each length equally often while there are enough distinct
    ones.
    """
    rng = random.Random(derive(SEED, name, length))  # noqa: S311 (not for secrets)
    strings: dict[str, None] = {}
    while len(strings) < NUM_ROWS:
        string_length = rng.randint((length + 1) // 2, length)
        strings["".join(rng.choices(string.ascii_lowercase, k=string_length))] = None
    return list(strings)


class CharacterPairs(BuiltInDataset):
    """Letters and their target."""

    task = "translation"

    def __init__(self, length: int = DataSettings().length) -> None:
        self.length = length

    @classmethod
    def from_settings(cls, settings: DataSettings) -> Self:
        return cls(settings.length)

    @abstractmethod
    def target_text(self, characters: str) -> str: ...

    def splits(self) -> dict[str, Source]:
        """Three splits without common sequences."""
        target = self.settings["data.target"]
        rows = [
            {"letters": characters, target: self.target_text(characters)}
            for characters in random_strings(self.name, self.length)
        ]
        source = InMemoryRows(f"{self.name}, length {self.length}", ["letters", target], rows)
        return to_sources(
            hold_out(
                source, how="content", valid_share=0.1, test_share=0.1, seed=SEED, key_columns=["letters"]
            )
        )
