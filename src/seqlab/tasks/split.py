"""One encoded part of the data: train, valid, test, or further data."""

from __future__ import annotations

from dataclasses import dataclass

from seqlab.batches.store import Store
from seqlab.sources.base import Source

ENCODING = 4
"""Raised whenever a codec encodes anything differently, so that older cached stores are not used."""


@dataclass(frozen=True)
class Split:
    """The rows of a part as they are in the file, and the same examples as arrays."""

    name: str
    rows: Source
    store: Store
    notes: tuple[str, ...] = ()
    """What the user should know about this part."""
