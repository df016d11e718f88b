"""The scenes of the dataset `shapes` in batches: pairs that are held out, pictures as tensors, captions as ids."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from jaxtyping import Float, Int
from torch import Tensor

from seqlab.datasets.shapes import COLOURS, GRID, MASKS, NOISE, THINGS, Scene, Thing

START, END = "<start>", "<end>"
WORDS = [START, END, "a", "above", "left", "of", *COLOURS, *MASKS]
WORD_IDS = {word: number for number, word in enumerate(WORDS)}
LONGEST = 10
"""Words of the longest caption, with start and end."""

Pairs = Sequence[tuple[Thing, Thing]]


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


def picture_of(scene: Scene) -> Float[Tensor, "3 height width"]:
    """Without noise."""
    return torch.from_numpy(scene.draw()).float().permute(2, 0, 1).contiguous()


def as_batch(scenes: Sequence[Scene], generator: torch.Generator) -> tuple[Float[Tensor, "batch 3 height width"], Int[Tensor, "batch time"]]:
    """Pictures with noise, and captions with start and end, filled up with the end."""
    pictures = torch.stack([picture_of(scene) for scene in scenes])
    rows = [[START, *scene.caption, END] for scene in scenes]
    words = [[WORD_IDS[word] for word in row] + [WORD_IDS[END]] * (LONGEST - len(row)) for row in rows]
    return pictures + NOISE * torch.randn(pictures.shape, generator=generator), torch.tensor(words)
