"""Warn if reading the data may use up a time budget, estimated from file sizes before reading."""

from __future__ import annotations

import math
from pathlib import Path

from seqlab.core.files import megabytes
from seqlab.pages.numbers import budget_of
from seqlab.recipes.recipe import Recipe
from seqlab.sources.files.compression import COMPRESSIONS
from seqlab.training.budget import DEFAULT_MINUTES, LEAST_FOR_TRAINING

BYTES_PER_SECOND = 1_500_000
"""Reading, survey, tokenizer and encoding combined, on one thread: 0.7 MB/s for short pairs, 1.6 MB/s for a
text, 1.8 MB/s for long texts in a table.
"""
COMPRESSION = 4
"""Text is about this much larger than its compressed file."""
MUCH = 0.5
"""Reading that takes more than this share of the time budget is worth a warning."""


def reading_warnings(recipe: Recipe) -> list[str]:
    """Warn if reading takes much of the time budget; the run continues with the minimum time for training."""
    training, data = recipe.training, recipe.data
    minutes = training.minutes or (0 if training.steps or training.epochs else DEFAULT_MINUTES)
    size = sum(size_of(Path(path)) for path in {data.train, data.valid, data.test} if path)
    seconds = size / BYTES_PER_SECOND
    if not minutes or seconds <= MUCH * minutes * 60:
        return []
    return [
        (
            f"the data is {megabytes(size)}: reading and preparing it may take about"
            f" {math.ceil(seconds / 60)} of {budget_of(minutes)} of the time budget. Training gets at least"
            f" {LEAST_FOR_TRAINING:.0%} of the budget, even if that exceeds it; for more time:"
            f" --minutes {math.ceil(minutes + seconds / 60)}"
        )
    ]


def size_of(path: Path) -> int:
    """Estimate the decompressed size of a file or folder in bytes; 0 if it does not exist."""
    try:
        if path.is_dir():
            return sum(size_of(entry) for entry in path.rglob("*") if entry.is_file())
        return path.stat().st_size * (COMPRESSION if path.suffix.lower() in COMPRESSIONS else 1)
    except OSError:  # built-in data, or a file without access, which reading reports
        return 0
