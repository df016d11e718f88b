"""Reverse the letters: order matters, and the alignment of a good model is the other
diagonal (data.length).

Paper: reading a source backwards made translation easier for Sutskever, Vinyals & Le 2014, "Sequence to
Sequence Learning with Neural Networks", arXiv:1409.3215, section 3.3; here the target is reversed instead.
"""

from __future__ import annotations

from seqlab.datasets.base import datasets
from seqlab.datasets.letters import CharacterPairs


@datasets.register("reverse")
class Reverse(CharacterPairs):
    """Translation of letters into their reverse."""

    name = "reverse"
    description = "Reverse a sequence of letters. (data.length)"
    settings = {"data.source": "letters", "data.target": "reversed", "tokens.kind": "characters"}  # noqa: RUF012 (declared ClassVar in the base)

    def target_text(self, characters: str) -> str:
        return characters[::-1]
