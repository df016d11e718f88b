"""Naive classifier of numeric series: ignore the order, and compare the mean of each feature over time.

    x̄       = mean over time of the features of a series, each feature divided by its spread in the training data
    label   = argmin_c ‖x̄ - mean of x̄ over the series of class c‖

A model that does not beat it has learned nothing about order or shape.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int, Shaped

from seqlab.core.errors import UsageError

FeatureSeries = Shaped[np.ndarray, "time features"]


@dataclass(frozen=True)
class NearestMean:
    """A fitted nearest-mean classifier.

    A class without examples has an infinite mean and is never the nearest.
    """

    means: Float[np.ndarray, "classes features"]
    std: Float[np.ndarray, " features"]

    @classmethod
    def fit(cls, examples: Iterable[tuple[FeatureSeries, int]], *, num_classes: int) -> NearestMean:
        """Average each class, in one pass that stores one number per example and feature."""
        rows, label_ids = [], []
        for series, label_id in examples:
            rows.append(_mean_over_time(series))
            label_ids.append(label_id)
        if not rows:
            raise UsageError(
                "the mean is undefined without examples.", cure="Fit the baseline on at least one example."
            )
        features, labels = np.stack(rows), np.array(label_ids)  # (examples, features), (examples,)
        std = features.std(axis=0)
        std[std == 0] = 1.0  # a constant feature carries no information, and must not cause a division by 0
        means = np.full((num_classes, features.shape[1]), np.inf)
        for label_id in np.unique(labels):
            means[label_id] = features[labels == label_id].mean(axis=0)
        return cls(means, std)

    def predict(self, series: Iterable[FeatureSeries]) -> Int[np.ndarray, " examples"]:
        """The class with the nearest mean, for every series; ties go to the lowest id."""
        return np.array([self._distances(sequence).argmin() for sequence in series], dtype=np.int64)

    def _distances(self, series: FeatureSeries) -> Float[np.ndarray, " classes"]:
        scaled = (self.means - _mean_over_time(series)) / self.std  # (classes, features)
        distances: Float[np.ndarray, " classes"] = np.linalg.norm(scaled, axis=1)
        return distances


def _mean_over_time(series: FeatureSeries) -> Float[np.ndarray, " features"]:
    if len(series) == 0:
        raise UsageError("a series of length 0 has no mean.", cure="Remove empty series.")
    mean: Float[np.ndarray, " features"] = series.mean(axis=0, dtype=np.float64)
    return mean
