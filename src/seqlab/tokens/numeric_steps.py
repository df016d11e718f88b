"""Numeric sequences: every step is a vector of features, standardized to mean 0 and standard deviation 1."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray

from seqlab.core.errors import DataError, RecipeError
from seqlab.core.files import write_whole
from seqlab.tokens.untrusted_json import damaged, list_of_numbers, read_json_object

Steps = NDArray[np.float32]
LARGEST_FILE = 50_000_000


class NumericSteps:
    """step = (value - mean) / scale, feature by feature, with the mean and standard deviation of the training split.

    Series, feature vectors and the rows of images enter the models this way, where text enters as ids.
    A feature that never changes has scale 1, so it becomes 0.

    >>> steps = NumericSteps.fit([[[1.0, 5.0], [3.0, 5.0]]])
    >>> steps.encode([[5.0, 5.0]]).tolist(), steps.decode([[3.0, 0.0]]).tolist()
    ([[3.0, 0.0]], [[5.0, 5.0]])
    """

    def __init__(self, mean: Sequence[float], scale: Sequence[float]) -> None:
        self.mean = np.asarray(mean, dtype=np.float64)  # (features,)
        self.scale = np.asarray(scale, dtype=np.float64)  # (features,)

    @property
    def num_features(self) -> int:
        return int(self.mean.size)

    @classmethod
    def fit(cls, sequences: Iterable[ArrayLike]) -> NumericSteps:
        """Mean and standard deviation over all steps of all sequences, in one pass.

        Two parts with counts n and m, means a and b, sums of squared deviations A and B together have mean a
        + (b - a) m / (n + m) and A + B + (b - a)² n m / (n + m): unlike a sum of squares, this does not lose
        precision. Paper: Chan, Golub and LeVeque 1983, "Algorithms for Computing the Sample Variance".
        """
        total: _Moments | None = None
        for number, sequence in enumerate(sequences, start=1):
            values = _values(
                sequence, num_features=None if total is None else total.mean.size, where=f"sequence {number}"
            )
            if len(values):
                part = _Moments(values)
                total = part if total is None else total.merged(part)
        if total is None:
            raise DataError(
                "there are no steps to train on.",
                cure="Is the file empty, or do all sequences have length 0?",
            )
        return cls(total.mean.tolist(), total.scale().tolist())

    @classmethod
    def fit_pixels(cls, images: Iterable[ArrayLike], *, channels: int) -> NumericSteps:
        """For steps that are rows of pixels: one mean and one standard deviation for each channel, shared by all
        pixels.

        Otherwise a nearly empty column at the border would be scaled up until a few specks of ink
        dominate the image.

        >>> NumericSteps.fit_pixels([[[0.0, 2.0], [2.0, 4.0]]], channels=1).mean.tolist()
        [2.0, 2.0]
        """
        width = 0

        def pixels() -> Iterator[ArrayLike]:
            nonlocal width
            for number, image in enumerate(images, start=1):
                values = _values(image, num_features=width or None, where=f"sequence {number}")
                width = values.shape[1] if len(values) else width
                if width % channels:
                    raise RecipeError(
                        f"a row of {width} numbers cannot be split into pixels of {channels} channels.",
                        where="model.channels",
                    )
                yield values.reshape(-1, channels)

        shared = cls.fit(pixels())
        return cls(
            np.tile(shared.mean, width // channels).tolist(),
            np.tile(shared.scale, width // channels).tolist(),
        )

    def encode(self, steps: ArrayLike, *, where: str = "") -> Steps:
        """Values -> steps, (time, features). A plain list of numbers is a series with one feature."""
        values = _values(steps, num_features=self.num_features, where=where)
        with np.errstate(over="ignore"):
            standard = ((values - self.mean) / self.scale).astype(np.float32)
        if not np.isfinite(standard).all():
            raise DataError(
                "after scaling, a value is too large for float32: it is too far from the values in the"
                " training data.",
                where=where,
                cure="Correct the value.",
            )
        return standard

    def decode(self, steps: ArrayLike) -> NDArray[np.float64]:
        """Steps -> values in their original units, (time, features)."""
        return np.asarray(steps, dtype=np.float64).reshape(-1, self.num_features) * self.scale + self.mean

    def save(self, path: Path) -> None:
        write_whole(path, json.dumps({"mean": self.mean.tolist(), "scale": self.scale.tolist()}))

    @classmethod
    def load(cls, path: Path) -> NumericSteps:
        data = read_json_object(path, largest=LARGEST_FILE)
        mean, scale = list_of_numbers(data, "mean", path=path), list_of_numbers(data, "scale", path=path)
        if not mean or len(mean) != len(scale) or min(scale) <= 0:
            raise damaged(path, "does not contain one mean and one positive scale per feature")
        return cls(mean, scale)


class _Moments:
    """Running count, mean and squared deviations."""

    def __init__(self, values: NDArray[np.float64]) -> None:
        self.count = len(values)
        self.mean = values.mean(axis=0)  # (features,)
        with np.errstate(over="ignore"):
            self.squares = ((values - self.mean) ** 2).sum(axis=0)  # (features,)
        self.low, self.high = values.min(axis=0), values.max(axis=0)  # (features,)

    def merged(self, other: _Moments) -> _Moments:
        count = self.count + other.count
        apart = other.mean - self.mean
        with np.errstate(over="ignore"):
            self.squares = self.squares + other.squares + apart**2 * (self.count * other.count / count)
        self.mean = self.mean + apart * (other.count / count)
        self.low, self.high = np.minimum(self.low, other.low), np.maximum(self.high, other.high)
        self.count = count
        return self

    def scale(self) -> NDArray[np.float64]:
        deviation = np.sqrt(self.squares / self.count)
        if not np.isfinite(deviation).all():
            feature = int(np.flatnonzero(~np.isfinite(deviation))[0]) + 1
            raise DataError(
                f"the values of feature {feature} are too large to compute a standard deviation.",
                cure="Correct the values, or use a larger unit.",
            )
        # Rounding can give a constant feature a tiny deviation, so compare the extremes instead.
        return np.where((self.low == self.high) | (deviation == 0), 1.0, deviation)


def _values(steps: ArrayLike, *, num_features: int | None, where: str) -> NDArray[np.float64]:
    """Numbers as (time, features), all finite, with the expected number of features."""
    try:
        values = np.asarray(steps, dtype=np.float64)
    except (ValueError, TypeError, OverflowError) as error:
        raise DataError(
            "the steps are not numeric, or do not all have the same number of values.",
            where=where,
            cure="Every step needs one number per feature.",
        ) from error
    if values.ndim < 2:
        values = values.reshape(-1, 1) if values.size else values.reshape(0, num_features or 0)
    if values.ndim > 2:
        raise DataError(
            f"each step has {values.ndim - 1} dimensions, expected 1.",
            where=where,
            cure="Write each step as one flat list of numbers.",
        )
    if num_features is not None and values.shape[1] != num_features and len(values):
        raise DataError(
            f"found {values.shape[1]} features per step, expected {num_features} as in the training data.",
            where=where,
            cure="Give every step the same columns, in the same order, as in training.",
        )
    if not np.isfinite(values).all():
        step, feature = (int(place) + 1 for place in np.argwhere(~np.isfinite(values))[0])
        raise DataError(
            f"step {step}, feature {feature} is not a finite number.",
            where=where,
            cure="Fill in the value, or remove the sequence.",
        )
    return values
