"""An encoded part of the data of a masked language model."""

from __future__ import annotations

from dataclasses import dataclass, field

from seqlab.batches.windows import Spans
from seqlab.tasks.split import Split


@dataclass(frozen=True)
class MaskedSplit(Split):
    """A stream of tokens, cut into the sequences that the network reads."""

    spans: Spans = field(kw_only=True)
    """Every sequence: a window, or a shorter document, with a token that can be masked."""
