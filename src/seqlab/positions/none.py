"""No places at all: attention then treats the steps as a set."""

from __future__ import annotations

from seqlab.positions.base import Positions, positions


@positions.register("none")
class NoPositions(Positions):
    """Does nothing in any of the three ways."""
