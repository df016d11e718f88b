"""An encoded part of tagged data."""

from __future__ import annotations

from dataclasses import dataclass

from seqlab.tasks.labeled.split import LabeledSplit
from seqlab.tasks.tagging.rows import TaggedRows


@dataclass(frozen=True, kw_only=True)
class TaggedSplit(LabeledSplit):
    """Sequences with a tag for every word. Long ones of the training split may be stored in pieces."""

    rows: TaggedRows
