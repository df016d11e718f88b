"""Runs that turn letters into capitals and have hardly learned anything: for what a search does, that is
enough.
"""

from __future__ import annotations

from itertools import product
from pathlib import Path

import seqlab
from seqlab.runs.run import Run

SMALL = (
    "data.source=small",
    "data.target=large",
    "data.seed=1",
    "training.threads=1",
    "model.hidden_size=12",
    "training.learning_rate=0.02",
    "decoding.max_tokens=8",
)


def write_pairs(folder: Path, *, letters: str = "abc") -> Path:
    """Two files side by side: all words of one to four letters, and the same in capitals."""
    words = ["".join(word) for length in range(1, 5) for word in product(letters, repeat=length)]
    for ending, lines in (("small", words), ("large", [word.upper() for word in words])):
        (folder / f"all.{ending}").write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    return folder / "all"


def train_tiny(data: Path, name: str, *settings: str, steps: int = 25) -> Run:
    return seqlab.train(data, *SMALL, *settings, model="gru", steps=steps, out=data.parent / name)
