"""Pictures of two coloured shapes, drawn by code, with the one sentence that is true of each: `a red circle above a blue square`.

Every pair of different things stands in every two squares of a row or a column. A pair stands in one part only, so that the test asks for things
that were never seen together.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from itertools import combinations
from typing import Any

import numpy as np
from jaxtyping import Float

from seqlab.core.seeds import derive
from seqlab.datasets.base import SEED, BuiltIn, as_parts, datasets
from seqlab.sources.base import Source
from seqlab.sources.in_memory import MemoryRows
from seqlab.sources.splitting import hold_out

GRID, SQUARE = 3, 5
"""Squares along each side of a picture, and pixels along each side of a square."""
NOISE = 0.1
COLOURS = {"red": (0.85, 0.15, 0.15), "green": (0.1, 0.6, 0.2), "blue": (0.15, 0.3, 0.85), "yellow": (0.9, 0.75, 0.1)}
MASKS = {
    "square": ("#####", "#####", "#####", "#####", "#####"),
    "circle": (".###.", "#...#", "#...#", "#...#", ".###."),
    "triangle": ("..#..", "..#..", ".###.", ".###.", "#####"),
    "cross": ("#...#", ".#.#.", "..#..", ".#.#.", "#...#"),
}

Thing = tuple[str, str]
"""A colour and a shape."""
THINGS: list[Thing] = [(colour, shape) for colour in COLOURS for shape in MASKS]


@dataclass(frozen=True)
class Scene:
    """Two things in two squares (row, column); the first is the upper one, or the left one where both are in one row."""

    things: tuple[Thing, Thing]
    squares: tuple[tuple[int, int], tuple[int, int]]

    @property
    def caption(self) -> list[str]:
        """
        >>> " ".join(Scene((("red", "square"), ("blue", "circle")), ((0, 2), (3, 2))).caption)
        'a red square above a blue circle'
        """
        (first, second), (above, below) = self.things, self.squares
        relation = ["left", "of"] if above[0] == below[0] else ["above"]
        return ["a", *first, *relation, "a", *second]

    @property
    def regions(self) -> list[int | None]:
        """For each word of the caption, the number of the square with the thing that it names."""
        first, second = (row * GRID + column for row, column in self.squares)
        relation = len(self.caption) - 6
        return [None, first, first, *[None] * relation, None, second, second]

    def draw(self) -> Float[np.ndarray, "height width 3"]:
        """The picture on white, from 0 to 1, without noise."""
        picture = np.ones((GRID * SQUARE, GRID * SQUARE, 3))
        for (colour, shape), (row, column) in zip(self.things, self.squares, strict=True):
            mask = np.array([[letter == "#" for letter in line] for line in MASKS[shape]])
            picture[row * SQUARE : (row + 1) * SQUARE, column * SQUARE : (column + 1) * SQUARE][mask] = COLOURS[colour]
        return picture


@datasets.register("shapes")
class Shapes(BuiltIn):
    """Captioning of small pictures; the looks of the decoder show which shape it names."""

    name = "shapes"
    sentence = "Pictures of two coloured shapes, to be described: a red circle above a blue square."
    task = "captioning"
    settings = {"data.source": "image", "data.target": "caption", "tokens.kind": "words"}  # noqa: RUF012 (declared ClassVar in the base)

    def splits(self) -> dict[str, Source]:
        source = MemoryRows("shapes", ["image", "caption", "things"], draw_all())
        return as_parts(hold_out(source, how="content", valid_share=0.1, test_share=0.1, seed=SEED, key_columns=["things"]))


@cache
def draw_all() -> list[dict[str, Any]]:
    """Every scene once, in a random order and with noise: rows of pixels [red, green, blue] from 0 to 255."""
    chance, scenes, rows = np.random.default_rng(derive(SEED, "shapes")), all_scenes(), []
    for place in chance.permutation(len(scenes)).tolist():
        scene = scenes[place]
        noisy = scene.draw() + NOISE * chance.standard_normal((GRID * SQUARE, GRID * SQUARE, 3))
        image = np.rint(255 * noisy.clip(0, 1)).astype(np.uint8).tolist()
        rows.append({"image": image, "caption": " ".join(scene.caption), "things": ", ".join(" ".join(thing) for thing in scene.things)})
    return rows


def all_scenes() -> list[Scene]:
    """Every pair of different things in every two squares of one column or one row."""
    places = []
    for line in range(GRID):
        for first, second in combinations(range(GRID), 2):
            places += [((first, line), (second, line)), ((line, first), (line, second))]
    return [Scene((one, other), squares) for one in THINGS for other in THINGS if one != other for squares in places]
