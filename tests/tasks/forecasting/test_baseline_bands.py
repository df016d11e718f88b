"""The baseline gets bands from its validation errors, so that its CRPS is that of a distribution."""

from __future__ import annotations

import numpy as np

from seqlab.metrics.forecasting import QuantileErrors
from seqlab.tasks.forecasting.conformal import ForecastCalibration

LEVELS = (0.025, 0.1, 0.25, 0.5, 0.75, 0.9, 0.975)


def test_bands_from_validation_errors_improve_the_crps_of_a_point_forecast() -> None:
    generator = np.random.default_rng(0)
    valid, test = generator.normal(0, 2, (2, 500, 3, 1))
    points = np.zeros((500, 3, 1, len(LEVELS)))
    scales = np.full((500, 1), 2.0)
    bands = ForecastCalibration.fit(valid, points, LEVELS, scales).apply(points, scales)

    def crps(quantiles: np.ndarray) -> float:
        return QuantileErrors(test[..., 0], quantiles[:, :, 0], LEVELS, np.arange(500)).crps().full_score()

    assert crps(bands) < 0.8 * crps(points)
    assert (bands[..., 3] == 0).all()
