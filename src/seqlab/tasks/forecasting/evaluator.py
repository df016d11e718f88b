"""Score forecasts from the origins of a split, next to the best forecast without a network."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property

import numpy as np
from jaxtyping import Float
from torch import nn

from seqlab.pages.sections.facts import Facts
from seqlab.tasks.evaluation import Evaluation
from seqlab.tasks.evaluator import Evaluator
from seqlab.tasks.forecasting.baselines import Baselines, most_accurate
from seqlab.tasks.forecasting.codec import ForecastingCodec
from seqlab.tasks.forecasting.conformal import ForecastCalibration
from seqlab.tasks.forecasting.outputs import Quantiles, predict_windows
from seqlab.tasks.forecasting.predictor import ForecastingPredictor
from seqlab.tasks.forecasting.report import ScoredForecasts, forecast_sections
from seqlab.tasks.forecasting.scores import ForecastTruth, forecast_items, forecast_scores, network_verdict
from seqlab.tasks.forecasting.series import Series, fill_forward
from seqlab.tasks.forecasting.split import ForecastSplit

NAIVE2, PERSISTENCE = "Naive2", "persistence"
PointForecasts = Float[np.ndarray, "windows horizon targets"]


class ForecastingEvaluator(Evaluator[ForecastingCodec, ForecastSplit, ForecastingPredictor]):
    """Scores the quantiles of all forecasts of a split. Every baseline is fitted on the split `train`."""

    def calibrate(self, model: nn.Module) -> ForecastCalibration:
        """Correct the bands on the validation forecasts (conformalized quantile regression)."""
        split = self.splits["valid"]
        predicted = predict_windows(model, self.codec, split)
        return ForecastCalibration.fit(split.truth, predicted.values, predicted.levels, split.deviation)

    def evaluate(self, predictor: ForecastingPredictor, split: str) -> Evaluation:
        encoded = self.splits[split]
        predicted = self._predict(predictor, encoded)
        truth = ForecastTruth.of(encoded.truth, encoded.naive_error, encoded.windows)
        baselines = self._forecast_baselines(encoded)
        naive2 = baselines.get(NAIVE2) if truth.has_many_series else None  # OWA is a mean over series
        items = forecast_items(truth, predicted.values, predicted.levels, naive2=naive2)
        name = self._best_baseline if self._best_baseline in baselines else next(iter(baselines))
        with_bands = self._baseline_calibration.apply(self._as_quantiles(baselines[name]), encoded.deviation)
        baseline = forecast_items(truth, with_bands, predicted.levels, naive2=naive2)
        scores = forecast_scores(truth, items, baseline=baseline, baseline_name=name)
        scored = ScoredForecasts(
            truth=truth,
            windows=predicted.windows,
            quantiles=predicted.values,
            levels=predicted.levels,
            methods=baselines,
            baseline=name,
            series=[series.targets for series in encoded.series],
            names=[series.name for series in encoded.series],
            times=[series.times for series in encoded.series],
            targets=self.codec.columns.targets,
        )
        sections = [Facts({"forecasts": len(encoded)}), *forecast_sections(scored)]
        verdict = network_verdict(scores[0])
        return Evaluation(split, scores, sections, items, notes=(verdict,) if verdict else ())

    def _predict(self, predictor: ForecastingPredictor, split: ForecastSplit) -> Quantiles:
        """Return the quantiles with corrected bands."""
        predicted = predict_windows(predictor.model, self.codec, split)
        return replace(predicted, values=predictor.calibration.apply(predicted.values, split.deviation))

    def _forecast_baselines(self, split: ForecastSplit) -> dict[str, PointForecasts]:
        """Forecast from the origins of a split with every method; without training data, with the last value."""
        baselines = self._baselines
        numbers = {series.name: number for number, series in enumerate(self._train_series)}
        if baselines is None or not {series.name for series in split.series} <= numbers.keys():
            return {PERSISTENCE: np.repeat(last_values(split)[:, None], split.horizon, axis=1)}
        values = [series.targets for series in self._train_series]
        for series in split.series:
            values[numbers[series.name]] = series.targets
        places = np.array([numbers[series.name] for series in split.series])
        windows = np.stack([places[split.windows[:, 0]], split.windows[:, 1]], axis=1)
        return baselines.forecast(values, windows)

    @cached_property
    def _train_series(self) -> tuple[Series, ...]:
        """The series that the baselines are fitted on; an evaluator of other parts keeps them."""
        return self.splits["train"].series if "train" in self.splits else ()

    @cached_property
    def _baselines(self) -> Baselines | None:
        if not self._train_series:
            return None
        train = [series.targets for series in self._train_series]
        return Baselines.fit(train, season=self.codec.settings.season, horizon=self.codec.horizon)

    @cached_property
    def _best_baseline(self) -> str:
        """The method with the lowest error on the validation split."""
        if not self._train_series or "valid" not in self.splits:
            return PERSISTENCE
        valid = self.splits["valid"]
        return most_accurate(self._forecast_baselines(valid), valid.truth, valid.naive_error)

    @cached_property
    def _baseline_calibration(self) -> ForecastCalibration:
        """Bands around the best baseline from its validation errors, so that CRPS compares distributions with each other;
        none without validation data.
        """
        if "train" not in self.splits or "valid" not in self.splits:
            return ForecastCalibration()
        valid = self.splits["valid"]
        points = self._as_quantiles(self._forecast_baselines(valid)[self._best_baseline])
        return ForecastCalibration.fit(valid.truth, points, self.codec.output.levels, valid.deviation)

    def _as_quantiles(self, points: PointForecasts) -> Float[np.ndarray, "windows horizon targets levels"]:
        """Repeat point forecasts for every level."""
        return np.repeat(points[..., None], len(self.codec.output.levels), axis=-1)


def last_values(split: ForecastSplit) -> Float[np.ndarray, "windows targets"]:
    """Return the last known value of each target before every origin; 0 if there is none."""
    filled = [np.nan_to_num(fill_forward(series.targets)) for series in split.series]
    return np.stack([filled[number][origin - 1] for number, origin in split.windows])
