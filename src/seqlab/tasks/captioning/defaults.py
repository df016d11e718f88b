"""Defaults of captioning: image size, network and tokens, from the first images."""

from __future__ import annotations

from itertools import islice
from math import ceil, log2
from typing import Any

from seqlab.core.errors import RecipeError
from seqlab.models.settings.images import ImageConvolutionalSettings, ImageSettings, VisionTransformerSettings
from seqlab.models.settings.section import ModelSettings
from seqlab.recipes.recipe import Recipe
from seqlab.tasks.captioning.rows import CaptionRows, ImageCells

SIZE = 64
"""Side length in pixels of images from files, which are usually larger."""
SMALL = 32
"""Images with at most this many pixels along each side need only a narrow network and small batches."""
GRID = 8
"""Regions along each side: few enough to attend to all of them for every word."""


def with_defaults(recipe: Recipe, rows: CaptionRows, cells: ImageCells) -> tuple[Recipe, list[str]]:
    reasons = []
    if not recipe.data.image_size:
        recipe = recipe.changed("data", image_size=_size(rows, cells))
        reasons.append(
            f"images are resized to {recipe.data.image_size}×{recipe.data.image_size} pixels; set"
            " data.image_size=NUMBER to change it"
        )
    if "model" not in recipe.model_fields_set:
        recipe = recipe.model_copy(update={"model": ImageConvolutionalSettings()})
        reasons.append(
            "a convolutional encoder with a Transformer decoder; use --model vit or decoder.kind=recurrent to change"
            " it"
        )
    recipe = recipe.with_defaults(
        "model", **_network(require_image_settings(recipe.model), recipe.data.image_size)
    )
    if isinstance(recipe.model, ImageConvolutionalSettings):
        recipe = recipe.with_defaults("decoder", kind="transformer", hidden_size=2 * recipe.model.hidden_size)
    if not recipe.tokens.kind:
        recipe = recipe.changed("tokens", kind="words")
    recipe = recipe.with_defaults("training", learning_rate=3e-3 if recipe.data.image_size <= SMALL else 1e-3)
    if not recipe.training.batch_size and not recipe.training.batch_tokens:
        recipe = recipe.changed("training", batch_size=32 if recipe.data.image_size <= SMALL else 64)
    return recipe, reasons


def require_image_settings(model: ModelSettings) -> ImageSettings:
    """Return the settings of a network that reads images; raises RecipeError for other networks."""
    if not isinstance(model, ImageSettings):
        raise RecipeError(
            f"a {model.kind} network does not read images.",
            where="model.kind",
            cure="Use --model cnn2d or --model vit.",
        )
    if model.channels not in (1, 3):
        raise RecipeError(
            f"images have 1 channel (gray) or 3 (color), not {model.channels}.",
            where="model.channels",
            cure="Use 1 or 3.",
        )
    return model


def _size(rows: CaptionRows, cells: ImageCells) -> int:
    """Choose the image size: small images keep theirs, or become square without becoming much larger."""
    first = next(iter(islice(rows.rows(), 1)), None)
    if first is None:
        return SIZE
    height, width = cells.pixels(first).shape[:2]
    return int(width) if height == width <= SIZE else min(SIZE, GRID * ceil(max(height, width) / GRID))


def _network(model: ImageSettings, size: int) -> dict[str, Any]:
    """Choose color channels, and the number of stages or the patch size for about eight regions along each
    side.
    """
    if isinstance(model, VisionTransformerSettings):
        fitting = [
            side for side in range(1, size + 1) if size % side == 0 and (model.height or size) % side == 0
        ]
        return {"channels": 3, "patch_size": min(fitting, key=lambda side: abs(size / side - GRID))}
    narrow = {"hidden_size": 32, "dropout": 0.0} if size <= SMALL else {}
    return {"channels": 3, "layers": max(2, 1 + ceil(log2(size / GRID))), **narrow}
