"""Random letters for the datasets `copy` and `reverse`: different sequences, half as long to wholly as long as is asked."""

from __future__ import annotations

import random
import string

from seqlab.core.seeds import derive
from seqlab.datasets.base import SEED, as_parts
from seqlab.datasets.memory import MemoryRows
from seqlab.sources.base import Source
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


def parts_of(name: str, length: int, rows: list[dict[str, str]]) -> dict[str, Source]:
    """Three parts that share no sequence of letters."""
    source = MemoryRows(f"{name}, length {length}", list(rows[0]), rows)
    return as_parts(hold_out(source, how="content", valid_share=0.1, test_share=0.1, seed=SEED, key_columns=["letters"]))
