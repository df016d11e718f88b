"""Which of two words came first, many words ago? A test of memory with an adjustable gap (data.gap).

A row is `red blue ka mo ti … what`, its label is the first word. Both colors occur in the row, so a bag of
words is correct in half of all cases (a guess: in a quarter), and a network that reads from left to right has
to remember the first word across the whole gap.
"""

from __future__ import annotations

import random
from itertools import product
from typing import Self

from seqlab.core.seeds import derive
from seqlab.datasets.base import SEED, BuiltInDataset, datasets, to_sources
from seqlab.sources.base import Source
from seqlab.sources.in_memory import InMemoryRows
from seqlab.sources.settings import DataSettings
from seqlab.sources.splitting import hold_out

CUES = ("red", "blue", "green", "black")
NOISE = tuple(consonant + vowel for consonant, vowel in product("dkmst", "aeiou"))
"""25 meaningless syllables."""
QUESTION = "what"
NUM_ROWS = 4_000


@datasets.register("recall")
class Recall(BuiltInDataset):
    """Classification of sequences of words."""

    name = "recall"
    description = "Which of two words came first, data.gap words ago?"
    task = "classification"
    settings = {"data.text": "sequence", "data.label": "first", "tokens.kind": "words"}  # noqa: RUF012 (declared ClassVar in the base)

    def __init__(self, gap: int = DataSettings().gap) -> None:
        self.gap = gap

    @classmethod
    def from_settings(cls, settings: DataSettings) -> Self:
        return cls(settings.gap)

    def splits(self) -> dict[str, Source]:
        rows = [
            {"sequence": sequence, "first": sequence.split()[0]} for sequence in recall_sequences(self.gap)
        ]
        source = InMemoryRows(f"recall, gap {self.gap}", ["sequence", "first"], rows)
        return to_sources(
            hold_out(
                source, how="content", valid_share=0.1, test_share=0.2, seed=SEED, key_columns=["sequence"]
            )
        )


def recall_sequences(gap: int) -> list[str]:
    """Distinct sequences with that many syllables between the two words and the question, equally many for each
    answer.
    """
    rng = random.Random(derive(SEED, "recall", gap))  # noqa: S311 (not for secrets)
    strings: dict[str, None] = {}
    while len(strings) < NUM_ROWS:
        first = CUES[len(strings) % len(CUES)]
        other = rng.choice([cue for cue in CUES if cue != first])
        strings[" ".join([first, other, *rng.choices(NOISE, k=gap), QUESTION])] = None
    return list(strings)
