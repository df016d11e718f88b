"""Into which of eight directions will a ball move next? The places where it was say it, one place alone says nothing.

A row is a straight path at constant speed: places (x, y), a step each. The first place and the direction are drawn independently of each other, so
that whoever has seen one place (data.max_length=1) is right in an eighth of all cases, and whoever remembers another one can know.
"""

from __future__ import annotations

import math
import random
from typing import Any

from seqlab.core.seeds import derive
from seqlab.datasets.base import SEED, BuiltIn, as_parts, datasets
from seqlab.sources.base import Source
from seqlab.sources.in_memory import MemoryRows
from seqlab.sources.splitting import hold_out

DIRECTIONS = ("east", "north-east", "north", "north-west", "west", "south-west", "south", "south-east")
"""Each an eighth of the circle around it, counter-clockwise."""
SLOWEST, FASTEST = 0.05, 0.15
"""How far a ball moves in a step, in a room that reaches from -1 to 1."""
PLACES = 8
ROWS = 4_000


@datasets.register("moving_ball")
class MovingBall(BuiltIn):
    """Classification of numeric sequences."""

    name = "moving_ball"
    sentence = "Into which of eight directions will a ball move next? One place alone says nothing (data.max_length=1)."
    task = "classification"
    settings = {"data.label": "next"}  # noqa: RUF012 (declared ClassVar in the base)

    def splits(self) -> dict[str, Source]:
        source = MemoryRows("moving_ball", ["steps", "next"], paths())
        return as_parts(hold_out(source, how="content", valid_share=0.1, test_share=0.2, seed=SEED, key_columns=["steps"]))


def paths() -> list[dict[str, Any]]:
    """Paths with their directions, as many for each."""
    chance = random.Random(derive(SEED, "moving ball"))  # noqa: S311 (not for secrets)
    rows = []
    for number in range(ROWS):
        direction = number % len(DIRECTIONS)
        angle = 2 * math.pi * (direction + chance.uniform(-0.5, 0.5)) / len(DIRECTIONS)
        speed = chance.uniform(SLOWEST, FASTEST)
        x, y = chance.uniform(-1, 1), chance.uniform(-1, 1)
        steps = [[x + moment * speed * math.cos(angle), y + moment * speed * math.sin(angle)] for moment in range(PLACES)]
        rows.append({"steps": steps, "next": DIRECTIONS[direction]})
    return rows
