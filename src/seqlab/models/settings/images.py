"""Settings of networks that read a whole image."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from seqlab.attention.registry import ScoreName
from seqlab.core.settings import Settings
from seqlab.models.settings.pooling import Pooling
from seqlab.models.settings.transformer import TransformerSettings
from seqlab.positions.registry import PositionsName


class VisionTransformerSettings(TransformerSettings):
    """A Vision Transformer: the patches of an image are the steps of a Transformer."""

    # Each kind has its own name, which for the type checker contradicts that of the parent.
    kind: Literal["vision_transformer"] = Field("vision_transformer", description="Model family.")  # type: ignore[assignment]  # see above
    patch_size: int = Field(
        4, ge=1, description="Patch size in pixels; must divide the image's height and width."
    )
    channels: int = Field(
        1,
        ge=1,
        description="Channels per pixel, stored next to each other in a row: 1 for grayscale, 3 for color.",
    )
    height: int = Field(0, ge=0, description="Image height in rows; 0 uses the number of columns.")
    positions: PositionsName = Field(
        PositionsName("learned"), description=("Positional encoding of the patches.")
    )
    max_positions: int = Field(
        0, ge=0, description="Maximum number of learned positions; 0 uses the number of patches."
    )
    pooling: Pooling = Field(
        "first",
        description=(
            "How to pool all patches into one vector: first (a learned class token), last, max, mean or"
            " learned queries."
        ),
    )


class ImageConvolutionalSettings(Settings):
    """A convolutional network for images: stages of 3×3 convolutions, each at half the resolution of the one
    before.
    """

    kind: Literal["image_convolutional"] = Field("image_convolutional", description="Model family.")
    layers: int = Field(
        2,
        ge=1,
        le=8,
        description=("Number of stages of two convolutions each; the image is halved between stages."),
    )
    hidden_size: int = Field(64, ge=1, description="Channels of every stage.")
    channels: int = Field(
        1,
        ge=1,
        description="Channels per pixel, stored next to each other in a row: 1 for grayscale, 3 for color.",
    )
    height: int = Field(0, ge=0, description="Image height in rows; 0 uses the number of columns.")
    non_local: bool = Field(
        False, description="Add non-local self-attention over all positions after the first stage."
    )
    non_local_score: ScoreName = Field(
        ScoreName("scaled_dot"), description="How non_local compares two positions."
    )
    dropout: float = Field(
        0.2, ge=0, lt=1, description="Dropout probability after each stage and before the output layer."
    )
    pooling: Literal["max", "mean"] = Field(
        "mean", description="How to pool all regions into one vector: max or mean."
    )


ImageSettings = VisionTransformerSettings | ImageConvolutionalSettings
