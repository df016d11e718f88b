"""Handwritten digits of 8 by 8 pixels, read row by row: a sequence of 8 steps with 8 numbers each.

The images are the ones scikit-learn ships (extra `datasets`): 1,797 digits, gray values scaled to 0..1.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from seqlab.core.extras import require
from seqlab.datasets.base import SEED, BuiltInDataset, datasets, to_sources
from seqlab.sources.base import Source
from seqlab.sources.in_memory import InMemoryRows
from seqlab.sources.splitting import hold_out

MAX_PIXEL = 16.0


@datasets.register("digits")
class Digits(BuiltInDataset):
    """Classification of numeric sequences."""

    name = "digits"
    description = "Which digit is in this image, read row by row?"
    task = "classification"
    settings = {"data.label": "label"}  # noqa: RUF012 (declared ClassVar in the base)

    def splits(self) -> dict[str, Source]:
        source = InMemoryRows("digits", ["steps", "label"], read_digits())
        return to_sources(
            hold_out(source, how="content", valid_share=0.1, test_share=0.2, seed=SEED, key_columns=["steps"])
        )


@cache
def read_digits() -> list[dict[str, Any]]:
    library = require(
        "sklearn.datasets", extra="datasets", purpose="The dataset 'digits'", package="scikit-learn"
    )
    digits = library.load_digits()
    return [
        {"steps": (image / MAX_PIXEL).tolist(), "label": str(label)}  # (8 steps, 8 numbers)
        for image, label in zip(digits.images, digits.target.tolist(), strict=True)
    ]
