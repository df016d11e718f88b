"""A part of the captions, and its images."""

from __future__ import annotations

from dataclasses import dataclass, field

from seqlab.batches.store import Store
from seqlab.tasks.split import Split


@dataclass(frozen=True)
class CaptionSplit(Split):
    """The store holds every caption with the number of its image."""

    images: Store = field(kw_only=True)
    """Every image once, as rows of bytes."""
