"""Seconds that forecasts without a network take: fitting all methods, and forecasting, on 1,000 series of 1,000 points.

    python -m benchmarks.forecast_baselines [SERIES [POINTS]]

Hourly series with a daily season, a random walk and noise; 48 steps are forecast from the last 4 days, at every sixth
origin. Processor seconds of one thread.
"""

from __future__ import annotations

import sys
import time

import numpy as np

from seqlab.baselines.forecasting.base import Histories, Origins
from seqlab.baselines.forecasting.methods import METHODS

QUICK = False
SEASON, HORIZON, EVERY = 24, 48, 6


def make_series(num_series: int, points: int) -> list[np.ndarray]:
    generator = np.random.default_rng(0)
    steps = np.arange(points)
    return [
        50
        + 10 * np.sin(2 * np.pi * (steps + number) / SEASON)
        + np.cumsum(generator.normal(0, 0.3, points))
        + generator.normal(0, 1, points)
        for number in range(num_series)
    ]


def main(arguments: list[str]) -> None:
    num_series, points = [*map(int, arguments), *(1000, 1000)[len(arguments) :]]
    series = make_series(num_series, points)
    started = time.process_time()
    whole, train = (
        Histories.of([values[:end] for values in series]) for end in (points, points - 2 * HORIZON)
    )
    steps = np.arange(points - 2 * HORIZON, points - HORIZON + 1, EVERY)
    origins = Origins(np.repeat(np.arange(num_series), len(steps)), np.tile(steps, num_series))
    print(f"{num_series:,} series of {points:,} points, {len(origins):,} forecasts of {HORIZON} steps")
    for method in METHODS:
        begin = time.process_time()
        fitted = method.fit(train, season=SEASON, horizon=HORIZON)
        middle = time.process_time()
        fitted.forecast(whole, origins, horizon=HORIZON)
        print(
            f"{method.name:<30} fit {middle - begin:5.2f} s, forecast {time.process_time() - middle:5.2f} s"
        )
    print(f"{'everything':<30} {time.process_time() - started:9.2f} s")


if __name__ == "__main__":
    main(sys.argv[1:])
