"""No positional encoding: attention treats the steps as a set."""

from __future__ import annotations

from seqlab.positions.base import PositionalEncoding, positional_encodings


@positional_encodings.register("none")
class NoPositions(PositionalEncoding):
    """Encodes no positions."""
