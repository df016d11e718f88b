"""The section `model` of a recipe: the settings of one of several kinds of network."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from seqlab.core.errors import RecipeError
from seqlab.core.settings import Settings
from seqlab.models.settings.bag import NGramBagSettings
from seqlab.models.settings.convolutional import ConvolutionalSettings
from seqlab.models.settings.fixed_window import FixedWindowSettings
from seqlab.models.settings.images import ImageConvolutionalSettings, ImageSettings, VisionTransformerSettings
from seqlab.models.settings.linear import LinearSettings
from seqlab.models.settings.recurrent import RecurrentSettings
from seqlab.models.settings.transformer import TransformerSettings

SequenceSettings = RecurrentSettings | ConvolutionalSettings | FixedWindowSettings | TransformerSettings

ModelSettings = Annotated[
    RecurrentSettings
    | ConvolutionalSettings
    | FixedWindowSettings
    | TransformerSettings
    | VisionTransformerSettings
    | ImageConvolutionalSettings
    | NGramBagSettings
    | LinearSettings,
    Field(discriminator="kind"),
]

MODEL_KINDS: dict[str, type[Settings]] = {
    "recurrent": RecurrentSettings,
    "convolutional": ConvolutionalSettings,
    "fixed_window": FixedWindowSettings,
    "transformer": TransformerSettings,
    "vision_transformer": VisionTransformerSettings,
    "image_convolutional": ImageConvolutionalSettings,
    "n_gram_bag": NGramBagSettings,
    "linear": LinearSettings,
}


def require_sequence_settings(settings: ModelSettings) -> SequenceSettings:
    """The settings of a network with one output per step; settings of an image network, of a bag or of a linear
    forecast are rejected.
    """
    if isinstance(settings, ImageSettings):
        raise RecipeError(
            f"a {settings.kind} network reads a whole image, but this task needs an output for every step.",
            where="model.kind",
            cure=(
                "Use --model lstm, --model cnn or --model transformer; image networks support"
                " classification and captioning."
            ),
        )
    if isinstance(settings, NGramBagSettings):
        raise RecipeError(
            "a bag of n-grams ignores the order of steps, but this task needs an output for every step.",
            where="model.kind",
            cure="Use --model lstm, --model cnn or --model transformer; a bag supports classification only.",
        )
    if isinstance(settings, LinearSettings):
        raise RecipeError(
            "a linear map from a window to its future is a forecast, but this task needs an output for every step.",
            where="model.kind",
            cure="Use --model lstm, --model cnn or --model transformer; --model linear supports forecasting only.",
        )
    return settings


def max_known_length(settings: ModelSettings) -> int | None:
    """Steps that the learned positions of a network know; None where any number can be read."""
    return (
        settings.max_positions
        if isinstance(settings, TransformerSettings) and settings.positions == "learned"
        else None
    )
