"""Write letters from the last to the first: order decides, and the alignment of a good model is the other diagonal (data.length).

Paper: reading a source backwards made translation easier for Sutskever, Vinyals & Le 2014, "Sequence to Sequence Learning with Neural Networks",
arXiv:1409.3215, section 3.3; here the target is turned instead.
"""

from __future__ import annotations

from typing import Self

from seqlab.datasets.base import BuiltIn, datasets
from seqlab.datasets.letters import parts_of, sequences
from seqlab.sources.base import Source
from seqlab.sources.settings import DataSettings


@datasets.register("reverse")
class Reverse(BuiltIn):
    """Translation of letters into their reverse."""

    name = "reverse"
    sentence = "Write letters from the last to the first. (data.length)"
    task = "translation"
    settings = {"data.source": "letters", "data.target": "reversed", "tokens.kind": "characters"}  # noqa: RUF012 (declared ClassVar in the base)

    def __init__(self, length: int = DataSettings().length) -> None:
        self.length = length

    @classmethod
    def configured(cls, settings: DataSettings) -> Self:
        return cls(settings.length)

    def splits(self) -> dict[str, Source]:
        return parts_of(self.name, self.length, [{"letters": letters, "reversed": letters[::-1]} for letters in sequences(self.name, self.length)])
