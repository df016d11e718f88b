"""Predict captions for images, with the attention over image regions."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import UInt8

from seqlab.core.errors import RecipeError
from seqlab.decoding.settings import DecodingSettings
from seqlab.models.images.encoder import ImageEncoder
from seqlab.pages.sections.attention import ImageExample
from seqlab.tasks.captioning.codec import CaptioningCodec
from seqlab.tasks.excerpt import excerpt
from seqlab.tasks.inputs.tokens import pieces_of
from seqlab.tasks.prediction import Prediction
from seqlab.tasks.seq2seq.predictor import MAX_MAP_TOKENS, Seq2SeqPredictor
from seqlab.tasks.seq2seq.target_search import TargetSearch

THUMBNAIL_SIDE = 32
"""Pixels along each side of an image in a report."""


class CaptioningPredictor(Seq2SeqPredictor[CaptioningCodec]):
    """Generates a caption for every image."""

    def build_search(self, settings: DecodingSettings) -> TargetSearch:
        if settings.coverage_penalty or settings.unknown == "copy":
            raise RecipeError(
                "this setting does not apply to image regions, which cannot be covered or copied like words.",
                where=f"decoding.{'coverage_penalty' if settings.coverage_penalty else 'unknown'}",
                cure="Remove it.",
            )
        return super().build_search(settings)

    def predict(self, inputs: Sequence[Any], *, top: int) -> list[Prediction]:
        """Predict captions for image files, given by name, or for images as rows of pixels."""
        tokens = self.codec.tokens
        captions = [
            [self.to_text(hypothesis, tokens.decode(hypothesis.tokens)) for hypothesis in hypotheses]
            for hypotheses in self.generate(self.codec.encode_inputs(inputs), top=top)
        ]
        names = [
            str(value) if isinstance(value, str | Path) else f"image {number}"
            for number, value in enumerate(inputs, start=1)
        ]
        return [
            self.to_prediction(name, hypotheses, top=top)
            for name, hypotheses in zip(names, captions, strict=True)
        ]

    def attention_example(
        self, image: UInt8[np.ndarray, "rows features"], caption: Sequence[int]
    ) -> ImageExample | None:
        """Return an image with a grid of attention weights for every token of a caption, including the end
        token; None if the decoder has no attention.
        """
        grids = {module.grid for module in self.network.modules() if isinstance(module, ImageEncoder)}
        if len(grids) > 1:  # the networks of an ensemble divide an image into different regions
            return None
        (grid,) = grids
        weights = self.attention(self.codec.inputs.steps(image), caption)
        if weights is None or len(weights) > MAX_MAP_TOKENS:
            return None
        tokens = self.codec.tokens
        pieces = pieces_of(tokens.target, np.array([*caption, tokens.end_id]))
        views = [
            {"words": piece, "weights": np.round(np.array(row).reshape(grid), 4).tolist()}
            for piece, row in zip(pieces, weights, strict=True)
        ]
        return ImageExample(
            excerpt(tokens.decode(caption)),
            self.codec.inputs.thumbnail(image, side=THUMBNAIL_SIDE),
            [{"words": "the image"}, *views],
        )
