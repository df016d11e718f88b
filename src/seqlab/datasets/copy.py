"""Copy the letters: the simplest translation task, a test of how much information passes from encoder to decoder
(data.length).

Without attention all letters go through one vector, so longer sequences are copied worse; with attention, the decoder attends to
each letter in turn. Paper: the copy task of Graves, Wayne & Danihelka 2014, "Neural Turing
Machines", arXiv:1410.5401, section 4.1.
"""

from __future__ import annotations

from seqlab.datasets.base import datasets
from seqlab.datasets.letters import CharacterPairs


@datasets.register("copy")
class Copy(CharacterPairs):
    """Translation of letters into themselves."""

    name = "copy"
    description = "Copy a sequence of letters. (data.length)"
    settings = {"data.source": "letters", "data.target": "copied", "tokens.kind": "characters"}  # noqa: RUF012 (declared ClassVar in the base)

    def target_text(self, characters: str) -> str:
        return characters
