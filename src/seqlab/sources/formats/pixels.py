"""Bytes of an image file, or numbers in a cell -> pixels of one size."""

from __future__ import annotations

import io
import struct
import warnings
from types import ModuleType
from typing import Any

import numpy as np
from jaxtyping import UInt8
from numpy.typing import NDArray

from seqlab.core.errors import DataError
from seqlab.core.extras import require

FORMATS = ("PNG", "JPEG", "GIF", "BMP", "WEBP")
MOST_PIXELS = 50_000_000
"""A file of a few kilobytes can expand to an image that fills memory; no camera produces this many
pixels.
"""
DEEP = 257
"""Ratio of 16-bit pixel values, which some scanners write, to 8-bit ones."""
LUMINANCE = (0.299, 0.587, 0.114)
"""Weights of red, green and blue in gray: ITU-R BT.601."""

Pixels = UInt8[np.ndarray, "height width channels"]
CURE = (
    f"Supported image formats: {', '.join(FORMATS)}. Fix the row, or skip such rows with data.bad_rows=skip."
)


def check_image(content: bytes, *, where: str) -> None:
    """Check that the bytes start like an image of a reasonable size; the pixels are not decoded."""
    _opened(content, where)


def decode_image(content: bytes, *, where: str) -> Pixels:
    """The RGB pixels of a file, rotated upright, with transparency on white; for an animated
    image, the first frame.
    """
    image = _opened(content, where)
    operations = _library("ImageOps")
    try:
        image = operations.exif_transpose(image)
        if image.mode.startswith("I"):  # 16-bit gray
            gray = np.clip(np.asarray(image, np.int64) // DEEP, 0, 255).astype(np.uint8)
            return np.repeat(gray[:, :, np.newaxis], 3, axis=2)
        if "A" in image.mode or "transparency" in image.info:
            image = image.convert("RGBA")
            image = _library("Image").alpha_composite(
                _library("Image").new("RGBA", image.size, "white"), image
            )
        return np.asarray(image.convert("RGB"))
    except (OSError, SyntaxError, ValueError, struct.error) as error:
        raise DataError(
            f"the image is truncated or corrupted ({str(error)[:100]}).",
            where=where,
            cure="Download the file again.",
        ) from error


def pixels_of(value: Any, *, where: str) -> Pixels:
    """An image written as numbers from 0 to 255: rows of gray pixels, or rows of pixels [red, green,
    blue].

    >>> pixels_of([[0, 255], [7, 8]], where="").shape
    (2, 2, 1)
    """
    try:
        pixels = np.asarray(value)
    except ValueError:
        pixels = np.zeros(0)
    if pixels.ndim == 2:
        pixels = pixels[:, :, np.newaxis]
    is_image = pixels.ndim == 3 and pixels.size and pixels.shape[2] in (1, 3) and pixels.dtype.kind in "iuf"
    if not is_image or not (pixels >= 0).all() or not (pixels <= 255).all():
        raise DataError(
            "the cell contains neither the name of an image file nor rows of pixel values from 0 to 255.",
            where=where,
            cure=CURE,
        )
    return pixels.astype(np.uint8)


def fitted(
    pixels: Pixels, *, height: int, width: int, channels: int
) -> UInt8[np.ndarray, "rows columns colours"]:
    """The image resized to this size, ignoring the aspect ratio, in gray (1 channel) or color (3)."""
    if pixels.shape[:2] != (height, width):
        image = _library("Image")
        plain = pixels[:, :, 0] if pixels.shape[2] == 1 else pixels
        scaled = image.fromarray(plain).resize((width, height), image.Resampling.BILINEAR)
        pixels = np.asarray(scaled).reshape(height, width, pixels.shape[2])
    if pixels.shape[2] == channels:
        return pixels
    return _grey(pixels) if channels == 1 else np.repeat(pixels, 3, axis=2)


def _grey(pixels: NDArray[np.uint8]) -> UInt8[np.ndarray, "height width 1"]:
    return np.rint(pixels @ np.array(LUMINANCE)).astype(np.uint8)[:, :, np.newaxis]


def _opened(content: bytes, where: str) -> Any:
    library = _library("Image")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", library.DecompressionBombWarning)
            image = library.open(io.BytesIO(content), formats=FORMATS)
    except (library.DecompressionBombWarning, library.DecompressionBombError) as error:
        raise _too_many(where) from error
    except (OSError, SyntaxError, ValueError, struct.error) as error:
        raise DataError("the file is not a supported image.", where=where, cure=CURE) from error
    if image.width * image.height > MOST_PIXELS:
        raise _too_many(where)
    return image


def _too_many(where: str) -> DataError:
    return DataError(
        f"the image has more than {MOST_PIXELS:,} pixels.",
        where=where,
        cure="Scale it down first; seqlab resizes images anyway.",
    )


def _library(part: str) -> ModuleType:
    return require(f"PIL.{part}", extra="images", purpose="Reading image files", package="Pillow")
