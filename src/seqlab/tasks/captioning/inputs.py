"""Images as steps: resized, read row by row, with every channel standardized to mean 0 and standard
deviation 1.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from jaxtyping import Float, UInt8
from numpy.typing import NDArray

from seqlab.core.errors import RunError
from seqlab.models.settings.images import ImageSettings
from seqlab.sources.formats.pixels import Pixels, fitted
from seqlab.tasks.inputs.numeric import NUMERIC
from seqlab.tokens.numeric_steps import NumericSteps

MAX_FITTED = 2000
"""Number of images for estimating the mean and standard deviation of the channels."""


class ImageInputs:
    """Converts pixels to rows of bytes, which are stored, and those to floats, which the network reads."""

    def __init__(self, scale: NumericSteps, model: ImageSettings) -> None:
        if scale.num_features % model.channels:
            raise RunError(
                f"rows of {scale.num_features} numbers do not fit an image with {model.channels} channels.",
                where=NUMERIC,
                cure="Train a new run.",
            )
        self.scale = scale
        self.channels = model.channels
        self.width = scale.num_features // model.channels
        self.height = model.height or self.width
        self._mean, self._deviation = scale.mean.astype(np.float32), scale.scale.astype(np.float32)

    @classmethod
    def fit(cls, images: Iterable[Pixels], model: ImageSettings, *, size: int) -> ImageInputs:
        rows = (
            rows_of(pixels, height=model.height or size, width=size, channels=model.channels)
            for pixels in images
        )
        return cls(NumericSteps.fit_pixels(rows, channels=model.channels), model)

    @classmethod
    def load(cls, folder: Path, model: ImageSettings) -> ImageInputs:
        return cls(NumericSteps.load(folder / NUMERIC), model)

    def save(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.scale.save(folder / NUMERIC)

    def rows(self, pixels: Pixels) -> UInt8[np.ndarray, "rows features"]:
        """Return an image of any size as rows, with the channels of a pixel side by side."""
        return rows_of(pixels, height=self.height, width=self.width, channels=self.channels)

    def steps(self, rows: NDArray[Any]) -> Float[torch.Tensor, "*images height features"]:
        """Return rows as the network reads them."""
        return torch.from_numpy((rows.astype(np.float32) - self._mean) / self._deviation)

    def thumbnail(
        self, rows: UInt8[np.ndarray, "rows features"], *, side: int
    ) -> list[list[tuple[float, float, float]]]:
        """Return red, green and blue from 0 to 1, with at most `side` pixels per row, for a report."""
        wide = min(side, self.width)
        high = max(1, round(wide * self.height / self.width))
        pixels = (
            fitted(rows.reshape(self.height, self.width, self.channels), height=high, width=wide, channels=3)
            / 255
        )
        return [
            [(round(float(r), 3), round(float(g), 3), round(float(b), 3)) for r, g, b in line]
            for line in pixels
        ]


def rows_of(pixels: Pixels, *, height: int, width: int, channels: int) -> UInt8[np.ndarray, "rows features"]:
    return np.ascontiguousarray(
        fitted(pixels, height=height, width=width, channels=channels).reshape(height, width * channels)
    )
