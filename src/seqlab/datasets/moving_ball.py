"""In which of eight directions will a ball move next? Its path tells; a single position does not.

A row is a straight path at constant speed: places (x, y), a step each. The first place and the direction are
drawn independently of each other, so that whoever has seen one place (data.max_length=1) is right in an
eighth of all cases, and whoever remembers another one can know.
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
"""Each an eighth of the circle around it, counter-clockwise."""
SLOWEST, FASTEST = 0.05, 0.15
"""How far a ball moves in a step, in a room that reaches from -1 to 1."""
NUM_POSITIONS = 8
NUM_ROWS = 4_000


@datasets.register("moving_ball")
class MovingBall(BuiltInDataset):
    """Classification of numeric sequences."""

    name = "moving_ball"
    description = (
        "Into which of eight directions will a ball move next? One place alone says nothing"
        " (data.max_length=1)."
    )
    task = "classification"
    settings = {"data.label": "next"}  # noqa: RUF012 (declared ClassVar in the base)

    def splits(self) -> dict[str, Source]:
        source = InMemoryRows("moving_ball", ["steps", "next"], ball_path_rows())
        return to_sources(
            hold_out(source, how="content", valid_share=0.1, test_share=0.2, seed=SEED, key_columns=["steps"])
        )


def ball_path_rows() -> list[dict[str, Any]]:
    """Paths with their directions, as many for each."""
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
