"""Nearest means of series against scikit-learn and plain arithmetic."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.neighbors import NearestCentroid

from seqlab.baselines.nearest_mean import NearestMean
from seqlab.core.errors import UsageError


def test_it_is_the_nearest_centroid_of_scaled_means_over_time() -> None:
    digits = load_digits()
    train, test = range(1200), range(1200, 1797)
    model = NearestMean.fit([(digits.images[i], int(digits.target[i])) for i in train], num_classes=10)
    means = digits.images.mean(axis=1)  # (examples, features): rows of the image are its time steps
    spread = means[:1200].std(axis=0)
    truth = NearestCentroid().fit(means[:1200] / spread, digits.target[:1200])
    np.testing.assert_array_equal(
        model.predict([digits.images[i] for i in test]), truth.predict(means[1200:] / spread)
    )


def test_a_feature_in_large_units_does_not_drown_the_others() -> None:
    generator = np.random.default_rng(0)
    examples = []
    for number in range(60):
        label_id = number % 2
        series = np.stack(
            [generator.normal(0, 1000.0, size=7), np.full(7, label_id * 0.1)], axis=1
        )  # (time, features)
        examples.append((series, label_id))
    model = NearestMean.fit(examples[:40], num_classes=2)
    assert (
        model.predict([series for series, _ in examples[40:]]) == [label_id for _, label_id in examples[40:]]
    ).all()


def test_series_of_different_lengths_and_whole_numbers_are_averaged_exactly() -> None:
    model = NearestMean.fit([(np.array([[1], [2]]), 0), (np.array([[5], [6], [10]]), 1)], num_classes=2)
    assert model.means.tolist() == [[1.5], [7.0]]
    assert model.predict([np.array([[4.2]]), np.array([[4.3]])]).tolist() == [0, 1]


def test_a_class_without_examples_is_never_predicted() -> None:
    model = NearestMean.fit([(np.array([[1.0]]), 0), (np.array([[2.0]]), 2)], num_classes=3)
    assert set(model.predict([np.array([[x]]) for x in (-50.0, 1.4, 1.6, 50.0)]).tolist()) == {0, 2}


def test_a_constant_feature_is_harmless() -> None:
    model = NearestMean.fit([(np.array([[3.0, 0.0]]), 0), (np.array([[3.0, 1.0]]), 1)], num_classes=2)
    assert model.predict([np.array([[3.0, 0.9]])]).tolist() == [1]


def test_nothing_has_no_mean() -> None:
    with pytest.raises(UsageError, match="length 0"):
        NearestMean.fit([(np.zeros((0, 3)), 0)], num_classes=1)
    with pytest.raises(UsageError, match="without examples"):
        NearestMean.fit([], num_classes=1)
