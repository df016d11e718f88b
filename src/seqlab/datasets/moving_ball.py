"""In which of eight directions will a ball move next? The path determines it; a single position does not.

A row is a straight path at constant speed: one position (x, y) per step. The first position and the direction are
drawn independently, so that a model that sees one position (data.max_length=1) is correct in an
eighth of all cases, and one that remembers another position can be perfect.
"""

from __future__ import annotations

import math
import random
from typing import Any

from seqlab.core.seeds import derive
from seqlab.datasets.base import SEED, BuiltInDataset, datasets, to_sources
from seqlab.sources.base import Source
from seqlab.sources.in_memory import InMemoryRows
from seqlab.sources.splitting import hold_out

DIRECTIONS = ("east", "north-east", "north", "north-west", "west", "south-west", "south", "south-east")
"""Each covers an eighth of a circle, counterclockwise."""
SLOWEST, FASTEST = 0.05, 0.15
"""How far a ball moves per step, in a box from -1 to 1."""
NUM_POSITIONS = 8
NUM_ROWS = 4_000


@datasets.register("moving_ball")
class MovingBall(BuiltInDataset):
    """Classification of numeric sequences."""

    name = "moving_ball"
    description = (
        "In which of eight directions will a ball move next? A single position is not enough to"
        " tell (data.max_length=1)."
    )
    task = "classification"
    settings = {"data.label": "next"}  # noqa: RUF012 (declared ClassVar in the base)

    def splits(self) -> dict[str, Source]:
        source = InMemoryRows("moving_ball", ["steps", "next"], ball_path_rows())
        return to_sources(
            hold_out(source, how="content", valid_share=0.1, test_share=0.2, seed=SEED, key_columns=["steps"])
        )


def ball_path_rows() -> list[dict[str, Any]]:
    """Paths with their directions, equally many of each."""
    rng = random.Random(derive(SEED, "moving ball"))  # noqa: S311 (not for secrets)
    rows = []
    for index in range(NUM_ROWS):
        direction = index % len(DIRECTIONS)
        angle = 2 * math.pi * (direction + rng.uniform(-0.5, 0.5)) / len(DIRECTIONS)
        speed = rng.uniform(SLOWEST, FASTEST)
        x, y = rng.uniform(-1, 1), rng.uniform(-1, 1)
        steps = [
            [x + step * speed * math.cos(angle), y + step * speed * math.sin(angle)]
            for step in range(NUM_POSITIONS)
        ]
        rows.append({"steps": steps, "next": DIRECTIONS[direction]})
    return rows
