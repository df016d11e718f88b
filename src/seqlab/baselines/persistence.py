"""Naive forecast of a numeric series: its last value.

    ŷ = x_T[feature]      the feature whose last value is nearest to the number in the training data (least squares)

A model of a slowly changing series that does not beat it has learned nothing about the change.

Paper: Hyndman & Athanasopoulos 2021, "Forecasting: Principles and Practice", 3rd edition, section 5.2.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float

from seqlab.core.errors import UsageError

Targets = Float[np.ndarray, " examples"]


@dataclass(frozen=True)
class Persistence:
    """Which feature is continued, counted from 0, of how many."""

    feature: int
    num_features: int

    @classmethod
    def fit(cls, series: Iterable[Sequence[Any]], targets: Targets) -> Persistence:
        """
        >>> Persistence.fit([[[1.0, 5.0], [2.0, 6.0]], [[3.0, 1.0], [4.0, 0.0]]], np.array([5.5, 1.0]))
        Persistence(feature=1, num_features=2)
        """
        last = _last_steps(series)  # (examples, features)
        if not len(last):
            raise UsageError(
                "the last value is undefined without series.",
                cure="Fit the baseline on at least one example.",
            )
        errors = ((last - targets[:, None]) ** 2).mean(axis=0)
        return cls(int(np.nanargmin(errors)) if not np.isnan(errors).all() else 0, last.shape[1])

    @property
    def name(self) -> str:
        return "the last value" + (f" of feature {self.feature + 1}" if self.num_features > 1 else "")

    def predict(self, series: Iterable[Sequence[Any]]) -> Targets:
        return _last_steps(series)[:, self.feature]


def _last_steps(series: Iterable[Sequence[Any]]) -> Float[np.ndarray, "examples features"]:
    steps = [np.atleast_1d(np.asarray(sequence[-1], np.float64)) for sequence in series]
    return np.stack(steps) if steps else np.zeros((0, 1))
