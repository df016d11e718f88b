"""A small table of labeled reviews that a model of any size learns."""

from __future__ import annotations

import random
from pathlib import Path

WORDS = {"good": ["fine", "lovely"], "bad": ["dull", "awful"]}


def write_films(path: Path) -> Path:
    """150 reviews with the columns text and label."""
    chance = random.Random(5)
    rows = [
        f"film {number} was {chance.choice(WORDS[label])},{label}"
        for number in range(150)
        for label in [chance.choice(list(WORDS))]
    ]
    path.write_text("\n".join(["text,label", *rows]) + "\n", encoding="utf-8")
    return path
