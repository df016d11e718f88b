"""Write the same letters again: the simplest translation, and a test of how much passes from encoder to decoder (data.length).

Without attention all letters go through one vector, so longer sequences are copied worse; with it each letter is looked at when its turn comes.
Paper: the copy task of Graves, Wayne & Danihelka 2014, "Neural Turing Machines", arXiv:1410.5401, section 4.1.
"""

from __future__ import annotations

from typing import Self

from seqlab.datasets.base import BuiltIn, datasets
from seqlab.datasets.letters import parts_of, sequences
from seqlab.sources.base import Source
from seqlab.sources.settings import DataSettings


@datasets.register("copy")
class Copy(BuiltIn):
    """Translation of letters into themselves."""

    name = "copy"
    sentence = "Write the same letters again. (data.length)"
    task = "translation"
    settings = {"data.source": "letters", "data.target": "copied", "tokens.kind": "characters"}  # noqa: RUF012 (declared ClassVar in the base)

    def __init__(self, length: int = DataSettings().length) -> None:
        self.length = length

    @classmethod
    def configured(cls, settings: DataSettings) -> Self:
        return cls(settings.length)

    def splits(self) -> dict[str, Source]:
        return parts_of(self.name, self.length, [{"letters": letters, "copied": letters} for letters in sequences(self.name, self.length)])
