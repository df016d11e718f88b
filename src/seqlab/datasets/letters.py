"""Random letters for the datasets `copy` and `reverse`: different sequences, half as long to wholly as long as is asked."""

from __future__ import annotations

import random
import string
from abc import abstractmethod
from typing import Self

from seqlab.core.seeds import derive
from seqlab.datasets.base import SEED, BuiltIn, as_parts
from seqlab.sources.base import Source
from seqlab.sources.in_memory import MemoryRows
from seqlab.sources.settings import DataSettings
from seqlab.sources.splitting import hold_out

ROWS = 8_000


def sequences(name: str, length: int) -> list[str]:
    """Sequences of ⌈length / 2⌉ to length letters, each length as often while there are enough different ones."""
    chance = random.Random(derive(SEED, name, length))  # noqa: S311 (not for secrets)
    found: dict[str, None] = {}
    while len(found) < ROWS:
        size = chance.randint((length + 1) // 2, length)
        found["".join(chance.choices(string.ascii_lowercase, k=size))] = None
    return list(found)


class LetterPairs(BuiltIn):
    """Letters, and what is to be written for them."""

    task = "translation"

    def __init__(self, length: int = DataSettings().length) -> None:
        self.length = length

    @classmethod
    def configured(cls, settings: DataSettings) -> Self:
        return cls(settings.length)

    @abstractmethod
    def written(self, letters: str) -> str: ...

    def splits(self) -> dict[str, Source]:
        """Three parts that share no sequence of letters."""
        target = self.settings["data.target"]
        rows = [{"letters": letters, target: self.written(letters)} for letters in sequences(self.name, self.length)]
        source = MemoryRows(f"{self.name}, length {self.length}", ["letters", target], rows)
        return as_parts(hold_out(source, how="content", valid_share=0.1, test_share=0.1, seed=SEED, key_columns=["letters"]))
