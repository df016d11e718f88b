"""Pictures of two coloured shapes, drawn by code, with the one sentence that is true of each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor

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
START, END = "<start>", "<end>"
WORDS = [START, END, "a", "above", "left", "of", *COLOURS, *MASKS]
WORD_IDS = {word: number for number, word in enumerate(WORDS)}
LONGEST = 10
"""Words of the longest caption, with start and end."""

Thing = tuple[str, str]
"""A colour and a shape."""
Pairs = Sequence[tuple[Thing, Thing]]
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

    def draw(self) -> Float[Tensor, "3 height width"]:
        """The picture on white, without noise."""
        picture = torch.ones(3, GRID * SQUARE, GRID * SQUARE)
        for (colour, shape), (row, column) in zip(self.things, self.squares, strict=True):
            mask = torch.tensor([[letter == "#" for letter in line] for line in MASKS[shape]])
            square = picture[:, row * SQUARE : (row + 1) * SQUARE, column * SQUARE : (column + 1) * SQUARE]
            square[:, mask] = torch.tensor(COLOURS[colour]).unsqueeze(1)
        return picture


def split_pairs(*, held_out: float, generator: torch.Generator) -> tuple[Pairs, Pairs]:
    """Pairs of different things for training, and pairs that are only ever asked for."""
    pairs = [(one, other) for one in THINGS for other in THINGS if one != other]
    order = [pairs[place] for place in torch.randperm(len(pairs), generator=generator).tolist()]
    count = round(held_out * len(pairs))
    return order[count:], order[:count]


def draw_scenes(num_scenes: int, pairs: Pairs, generator: torch.Generator) -> list[Scene]:
    """Scenes of these pairs, in squares of one row or one column."""
    scenes = []
    for pair in torch.randint(len(pairs), (num_scenes,), generator=generator).tolist():
        line, upright = int(torch.randint(GRID, (), generator=generator)), bool(torch.randint(2, (), generator=generator))
        first, second = sorted(torch.randperm(GRID, generator=generator)[:2].tolist())
        squares = ((first, line), (second, line)) if upright else ((line, first), (line, second))
        scenes.append(Scene(pairs[pair], squares))
    return scenes


def as_batch(scenes: Sequence[Scene], generator: torch.Generator) -> tuple[Float[Tensor, "batch 3 height width"], Int[Tensor, "batch time"]]:
    """Pictures with noise, and captions with start and end, filled up with the end."""
    pictures = torch.stack([scene.draw() for scene in scenes])
    rows = [[START, *scene.caption, END] for scene in scenes]
    words = [[WORD_IDS[word] for word in row] + [WORD_IDS[END]] * (LONGEST - len(row)) for row in rows]
    return pictures + NOISE * torch.randn(pictures.shape, generator=generator), torch.tensor(words)
