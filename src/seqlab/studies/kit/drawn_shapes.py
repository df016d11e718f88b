"""Batches of the dataset `shapes`: held-out pairs, images as tensors, captions as ids."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from jaxtyping import Float, Int
from torch import Tensor

from seqlab.datasets.shapes import COLORED_SHAPES, COLORS, GRID_SIZE, MASKS, NOISE, ColoredShape, Scene

START, END = "<start>", "<end>"
WORDS = [START, END, "a", "above", "left", "of", *COLORS, *MASKS]
WORD_IDS = {word: index for index, word in enumerate(WORDS)}
MAX_CAPTION_TOKENS = 10
"""Words of the longest caption, with start and end."""

ShapePairs = Sequence[tuple[ColoredShape, ColoredShape]]


def split_pairs(*, held_out: float, generator: torch.Generator) -> tuple[ShapePairs, ShapePairs]:
    """Pairs of different objects for training, and held-out pairs for testing."""
    pairs = [(first, second) for first in COLORED_SHAPES for second in COLORED_SHAPES if first != second]
    order = [pairs[index] for index in torch.randperm(len(pairs), generator=generator).tolist()]
    count = round(held_out * len(pairs))
    return order[count:], order[:count]


def draw_scenes(num_scenes: int, pairs: ShapePairs, generator: torch.Generator) -> list[Scene]:
    """Scenes of these pairs, in squares of one row or one column."""
    scenes = []
    for pair in torch.randint(len(pairs), (num_scenes,), generator=generator).tolist():
        line, is_vertical = (
            int(torch.randint(GRID_SIZE, (), generator=generator)),
            bool(torch.randint(2, (), generator=generator)),
        )
        first, second = sorted(torch.randperm(GRID_SIZE, generator=generator)[:2].tolist())
        positions = ((first, line), (second, line)) if is_vertical else ((line, first), (line, second))
        scenes.append(Scene(pairs[pair], positions))
    return scenes


def scene_to_image(scene: Scene) -> Float[Tensor, "3 height width"]:
    """Without noise."""
    return torch.from_numpy(scene.render()).float().permute(2, 0, 1).contiguous()


def scenes_to_batch(
    scenes: Sequence[Scene], generator: torch.Generator
) -> tuple[Float[Tensor, "batch 3 height width"], Int[Tensor, "batch time"]]:
    """Noisy images, and captions with start and end token, padded with the end token."""
    images = torch.stack([scene_to_image(scene) for scene in scenes])
    rows = [[START, *scene.caption, END] for scene in scenes]
    words = [
        [WORD_IDS[word] for word in row] + [WORD_IDS[END]] * (MAX_CAPTION_TOKENS - len(row)) for row in rows
    ]
    return images + NOISE * torch.randn(images.shape, generator=generator), torch.tensor(words)
