"""Drawn images of two colored shapes, each with a caption: `a red circle above a blue square`.

Every pair of distinct objects appears in every two squares of a row or a column. A pair appears in one split
only, so that the test split contains pairs that were never seen together.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from itertools import combinations
from typing import Any

import numpy as np
from jaxtyping import Float

from seqlab.core.seeds import derive
from seqlab.datasets.base import SEED, BuiltInDataset, datasets, to_sources
from seqlab.sources.base import Source
from seqlab.sources.in_memory import InMemoryRows
from seqlab.sources.splitting import hold_out

GRID_SIZE, CELL_SIZE = 3, 5
"""Squares per side of an image, and pixels per side of a square."""
NOISE = 0.1
COLORS = {
    "red": (0.85, 0.15, 0.15),
    "green": (0.1, 0.6, 0.2),
    "blue": (0.15, 0.3, 0.85),
    "yellow": (0.9, 0.75, 0.1),
}
MASKS = {
    "square": ("#####", "#####", "#####", "#####", "#####"),
    "circle": (".###.", "#...#", "#...#", "#...#", ".###."),
    "triangle": ("..#..", "..#..", ".###.", ".###.", "#####"),
    "cross": ("#...#", ".#.#.", "..#..", ".#.#.", "#...#"),
}

ColoredShape = tuple[str, str]
"""A color and a shape."""
COLORED_SHAPES: list[ColoredShape] = [(color, shape) for color in COLORS for shape in MASKS]


@dataclass(frozen=True)
class Scene:
    """Two objects in two squares (row, column); the first is the upper one, or the left one where both are in
    one row.
    """

    shapes: tuple[ColoredShape, ColoredShape]
    positions: tuple[tuple[int, int], tuple[int, int]]

    @property
    def caption(self) -> list[str]:
        """
        >>> " ".join(Scene((("red", "square"), ("blue", "circle")), ((0, 2), (3, 2))).caption)
        'a red square above a blue circle'
        """
        (first, second), (above, below) = self.shapes, self.positions
        relation = ["left", "of"] if above[0] == below[0] else ["above"]
        return ["a", *first, *relation, "a", *second]

    @property
    def regions(self) -> list[int | None]:
        """For each word of the caption, the index of the square with the object that it describes."""
        first, second = (row * GRID_SIZE + column for row, column in self.positions)
        relation = len(self.caption) - 6
        return [None, first, first, *[None] * relation, None, second, second]

    def render(self) -> Float[np.ndarray, "height width 3"]:
        """The image on a white background, from 0 to 1, without noise."""
        image = np.ones((GRID_SIZE * CELL_SIZE, GRID_SIZE * CELL_SIZE, 3))
        for (color, shape), (row, column) in zip(self.shapes, self.positions, strict=True):
            mask = np.array([[character == "#" for character in line] for line in MASKS[shape]])
            image[row * CELL_SIZE : (row + 1) * CELL_SIZE, column * CELL_SIZE : (column + 1) * CELL_SIZE][
                mask
            ] = COLORS[color]
        return image


@datasets.register("shapes")
class Shapes(BuiltInDataset):
    """Captioning of small images; the decoder's attention shows which shape it names."""

    name = "shapes"
    description = "Images of two colored shapes to describe: a red circle above a blue square."
    task = "captioning"
    settings = {"data.source": "image", "data.target": "caption", "tokens.kind": "words"}  # noqa: RUF012 (declared ClassVar in the base)

    def splits(self) -> dict[str, Source]:
        source = InMemoryRows("shapes", ["image", "caption", "things"], render_all_scenes())
        return to_sources(
            hold_out(
                source, how="content", valid_share=0.1, test_share=0.1, seed=SEED, key_columns=["things"]
            )
        )


@cache
def render_all_scenes() -> list[dict[str, Any]]:
    """Every scene once, in a random order and with noise: rows of pixels [red, green, blue] from 0 to 255."""
    rng, scenes, rows = np.random.default_rng(derive(SEED, "shapes")), all_scenes(), []
    for index in rng.permutation(len(scenes)).tolist():
        scene = scenes[index]
        noisy = scene.render() + NOISE * rng.standard_normal(
            (GRID_SIZE * CELL_SIZE, GRID_SIZE * CELL_SIZE, 3)
        )
        image = np.rint(255 * noisy.clip(0, 1)).astype(np.uint8).tolist()
        rows.append(
            {
                "image": image,
                "caption": " ".join(scene.caption),
                "things": ", ".join(" ".join(shape) for shape in scene.shapes),
            }
        )
    return rows


def all_scenes() -> list[Scene]:
    """Every pair of distinct objects in every two squares of one column or one row."""
    position_pairs = []
    for line in range(GRID_SIZE):
        for first, second in combinations(range(GRID_SIZE), 2):
            position_pairs += [((first, line), (second, line)), ((line, first), (line, second))]
    return [
        Scene((shape, other_shape), positions)
        for shape in COLORED_SHAPES
        for other_shape in COLORED_SHAPES
        if shape != other_shape
        for positions in position_pairs
    ]
