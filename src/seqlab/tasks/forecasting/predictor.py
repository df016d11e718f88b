"""Forecast the steps after the end of new histories."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import torch

from seqlab.batches.batch import Batch
from seqlab.core.errors import DataError, UsageError
from seqlab.sources.base import INPUTS, Row
from seqlab.tasks.forecasting.codec import ForecastingCodec
from seqlab.tasks.forecasting.conformal import ForecastCalibration
from seqlab.tasks.forecasting.future_times import time_text, times_after
from seqlab.tasks.forecasting.outputs import BATCH, predict_batch
from seqlab.tasks.forecasting.prediction import ForecastPrediction, number
from seqlab.tasks.forecasting.series import SeriesRow
from seqlab.tasks.prediction import Prediction
from seqlab.tasks.predictor import Predictor


class ForecastingPredictor(Predictor[ForecastingCodec, ForecastCalibration]):
    """Predicts the next steps after the last known target of every history."""

    def predict(self, inputs: Sequence[Any], *, top: int) -> list[Prediction]:
        """inputs: rows of a source of series, or lists of numbers: the targets alone, without times."""
        histories = [self._history(value, number) for number, value in enumerate(inputs, start=1)]
        predictions = list[Prediction]()
        for first in range(0, len(histories), BATCH):
            predictions += self._predict_batch(histories[first : first + BATCH])
        return predictions

    def _history(self, value: Any, place: int) -> SeriesRow:
        """Return an input as a history that ends with a known target."""
        row = SeriesRow(value if isinstance(value, Row) else self._row_of_numbers(value, place))
        is_known = np.isfinite(row.targets).any(axis=1)
        if not is_known.any():
            raise DataError(
                "there is no known value before the forecast.",
                where=row.row.where,
                cure=f"Pass a history with values in {', '.join(self.codec.columns.targets)}.",
            )
        length = int(np.flatnonzero(is_known)[-1]) + 1
        shorter = {"targets": row.targets[:length], "features": row.features[:length]}
        return SeriesRow(Row({**row.row.values, **shorter, "start": length}, row.row.file, row.row.line))

    def _row_of_numbers(self, value: Any, place: int) -> Row:
        codec = self.codec
        needs = [
            name
            for name, is_needed in (
                ("features", codec.columns.features),
                ("columns known in advance", codec.columns.known),
                ("times", codec.periods),
            )
            if is_needed
        ]
        if needs:
            raise UsageError(
                f"this run reads {' and '.join(needs)}, which a list of numbers does not have.",
                cure="Pass a file with the columns of the training data: seqlab predict RUN --file FILE",
            )
        try:
            targets = np.asarray(value, np.float64).reshape(len(value), len(codec.columns.targets))
        except (TypeError, ValueError) as error:
            raise DataError(
                f"expected a list of numbers, found {str(value)[:40]!r}.",
                where=f"{INPUTS} {place}",
                cure="Pass the history of the target, such as [3.5, 4, 4.2], or a file with --file.",
            ) from error
        only = next(iter(codec.scales)) if len(codec.scales) == 1 else ""
        return Row({"series": only, "times": np.arange(len(targets)), "targets": targets}, INPUTS, place)

    @torch.inference_mode()
    def _predict_batch(self, rows: list[SeriesRow]) -> list[Prediction]:
        scales = [self.codec.scale(row) for row in rows]
        encoded = predict_batch(self.model, self.codec, self._batch(rows))
        mean, deviation = (
            np.stack([getattr(scale.targets, name) for scale in scales]) for name in ("mean", "deviation")
        )
        values = mean[:, None, :, None] + deviation[:, None, :, None] * encoded
        corrected = self.calibration.apply(values, deviation)
        return [self._decode(row, quantiles) for row, quantiles in zip(rows, corrected, strict=True)]

    def _batch(self, rows: list[SeriesRow]) -> Batch:
        """Build a batch from the ends of some histories."""
        codec, context, horizon = self.codec, self.codec.settings.context, self.codec.horizon
        num_targets = len(codec.columns.targets)
        targets = np.full((len(rows), context, num_targets), np.nan)
        inputs = np.zeros((len(rows), context, codec.num_columns - num_targets))
        known = np.zeros((len(rows), horizon, codec.num_known))
        for number_, row in enumerate(rows):
            scale, length = codec.scale(row), len(row.targets)
            read = min(length, context)
            future = codec.encode_known(row, scale, num_steps=length + horizon)
            targets[number_, context - read :] = codec.encode_targets(row, scale)[-read:]
            inputs[number_, context - read :] = codec.encode_inputs(row, scale, num_steps=length)[-read:]
            known[number_] = future[length:]
        truth = np.full((len(rows), horizon, num_targets), np.nan)
        return codec.batch(
            targets=targets, inputs=inputs, known=known, truth=truth, rows=np.arange(len(rows))
        )

    def _decode(self, row: SeriesRow, values: np.ndarray) -> ForecastPrediction:
        length = len(row.targets)
        times = times_after(row.times[:length], self.codec.horizon, self.codec.frequency)
        last = time_text(row.times[length - 1])
        name = f"{row.name}, " if row.name else ""
        forecast = ForecastPrediction(
            f"{name}{length:,} steps up to {last}",
            "",
            None,
            [],
            row.name,
            tuple(map(time_text, times)),
            self.codec.columns.targets,
            self.codec.output.levels,
            values,
        )
        first, bounds = next(forecast.steps()), [f"{level:g}" for level in forecast.band]
        return replace(
            forecast,
            answer=number(first.median),
            ranking=[(number(first.quantiles[level]), float(level)) for level in bounds],
        )
