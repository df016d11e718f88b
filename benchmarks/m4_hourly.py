"""Errors of forecasts without a network on the hourly series of the M4 competition: sMAPE, MASE, OWA.

    python -m benchmarks.m4_hourly FOLDER

FOLDER has Hourly-train.csv.xz and Hourly-test.csv.xz of github.com/Mcompetitions/M4-methods (Dataset): 414 series, 48 steps
each. OWA is relative to Naive2; published are 0.628 (seasonal naive), 0.655 (a pooled linear model), 0.440 (the winner).
"""

from __future__ import annotations

import csv
import lzma
import sys
import time
from pathlib import Path

import numpy as np

from seqlab.tasks.forecasting.baselines import Baselines
from seqlab.tasks.forecasting.scores import ForecastTruth, forecast_items

SEASON, HORIZON = 24, 48
SCORES = ("smape", "mase", "owa")


def read_series(path: Path) -> list[np.ndarray]:
    """One row per series: its name, then its values; rows end early."""
    with lzma.open(path, "rt") as file:
        rows = list(csv.reader(file))[1:]
    return [np.array([float(cell) for cell in row[1:] if cell])[:, None] for row in rows]


def main(arguments: list[str]) -> None:
    folder = Path(arguments[0])
    train, test = (read_series(folder / f"Hourly-{part}.csv.xz") for part in ("train", "test"))
    windows = np.array([[number, len(values)] for number, values in enumerate(train)])
    started = time.process_time()
    baselines = Baselines.fit(train, season=SEASON, horizon=HORIZON)
    forecasts = baselines.forecast(train, windows)
    print(f"{len(train)} series, {time.process_time() - started:.1f} s of processor time")
    truth = ForecastTruth.of(np.stack(test), baselines.scales_of(windows), windows)
    print("| method | sMAPE | MASE | OWA |\n|---|---|---|---|")
    for name, values in forecasts.items():
        items = forecast_items(truth, values[..., None], [0.5], naive2=forecasts["Naive2"])
        print(f"| {name} | " + " | ".join(f"{items[score].full_score():.3f}" for score in SCORES) + " |")


if __name__ == "__main__":
    main(sys.argv[1:])
