"""Convert series to windows of standardized numbers, and forecasts back to numbers of the series."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import numpy as np
import torch
from jaxtyping import Float

from seqlab.batches.batch import Batch
from seqlab.batches.cache import cached_store
from seqlab.batches.columns import SequenceColumn, StepColumn
from seqlab.batches.samplers import Indices
from seqlab.batches.store_writer import StoreWriter
from seqlab.core.errors import DataError
from seqlab.core.files import write_whole
from seqlab.losses.forecasting import OUTPUTS, ForecastOutput
from seqlab.metrics.forecasting import seasonal_scale
from seqlab.pages.numbers import count_of
from seqlab.recipes.recipe import Recipe
from seqlab.sources.base import Source
from seqlab.sources.frequency import Frequency
from seqlab.tasks.codec import Codec
from seqlab.tasks.forecasting.calendar import calendar_features, periods_of
from seqlab.tasks.forecasting.future_times import seconds_per_step, time_text, times_after
from seqlab.tasks.forecasting.scale import ColumnScale, SeriesScale
from seqlab.tasks.forecasting.series import ColumnNames, SeriesRow, Values, fill_forward, time_series
from seqlab.tasks.forecasting.settings import ForecastingSettings
from seqlab.tasks.forecasting.split import ForecastSplit
from seqlab.tasks.forecasting.static import StaticColumns
from seqlab.tasks.forecasting.store_columns import (
    DEVIATION,
    INPUTS,
    LINE,
    MEAN,
    NAIVE_ERROR,
    START,
    TARGETS,
    TIMES,
    TRUTH,
)
from seqlab.tasks.forecasting.windows import Windows
from seqlab.tasks.inputs.base import digest_of
from seqlab.tokens.untrusted_json import damaged, read_json_object

FILE = "series.json"
LARGEST_FILE = 500_000_000


@dataclass(frozen=True)
class ForecastingCodec(Codec):
    """Standardizes every series by its own mean and deviation in the training part."""

    frequency: Frequency
    periods: tuple[str, ...]
    """The calendar features."""
    static: StaticColumns
    columns: ColumnNames
    """Targets, features and columns known in advance."""
    scales: dict[str, SeriesScale]

    @classmethod
    def fit(cls, recipe: Recipe, train: Source) -> Self:
        frequency = time_series(train).frequency
        scales: dict[str, SeriesScale] = {}
        static = list[Mapping[str, Any]]()
        periods: set[str] = set()
        for row in map(SeriesRow, train.rows()):
            scales[row.name] = scale_of(
                row, len(row.targets), season=recipe.section(ForecastingSettings).season
            )
            static.append(row.static)
            periods.update(periods_of(row.times, seconds_per_step(frequency)))
        if not scales:
            raise DataError("there is no series in the training data.", where=train.name)
        used = tuple(sorted(periods)) if recipe.section(ForecastingSettings).calendar else ()
        return cls(recipe, frequency, used, StaticColumns.fit(static), ColumnNames.of(train), scales)

    @classmethod
    def load(cls, recipe: Recipe, folder: Path) -> Self:
        plain: dict[str, Any] = read_json_object(folder / FILE, largest=LARGEST_FILE)
        try:
            return cls(
                recipe,
                Frequency(**plain["frequency"]),
                tuple(plain["periods"]),
                StaticColumns.from_json(plain["static"]),
                ColumnNames(**{name: tuple(names) for name, names in plain["columns"].items()}),
                {name: SeriesScale.from_json(scale) for name, scale in plain["series"].items()},
            )
        except (LookupError, TypeError, ValueError, AttributeError) as error:
            raise damaged(folder / FILE, "does not contain the scales of the series") from error

    def save(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        plain = {
            "frequency": self.frequency.to_json(),
            "periods": list(self.periods),
            "static": self.static.to_json(),
            "columns": asdict(self.columns),
            "series": {name: scale.to_json() for name, scale in self.scales.items()},
        }
        write_whole(folder / FILE, json.dumps(plain, ensure_ascii=False, allow_nan=False))

    @property
    def settings(self) -> ForecastingSettings:
        return self.recipe.section(ForecastingSettings)

    @property
    def horizon(self) -> int:
        return self.recipe.data.horizon

    @property
    def network_horizon(self) -> int:
        """Steps that the network predicts at once."""
        return 1 if self.settings.strategy == "recursive" else self.horizon

    @property
    def num_known(self) -> int:
        """Columns that are known in advance: those of the data, the calendar, and static ones."""
        return len(self.columns.known) + 2 * len(self.periods) + self.static.width

    @property
    def num_columns(self) -> int:
        """Columns of a step that the network reads."""
        return len(self.columns.targets) + len(self.columns.features) + self.num_known

    @cached_property
    def output(self) -> ForecastOutput:
        return OUTPUTS[self.settings.output](self.settings.levels)

    def example_input(self) -> str:
        return "history.csv"

    def scale(self, row: SeriesRow) -> SeriesScale:
        """Return the scale of a series; that of a new one is learned from its history."""
        return self.scales.get(row.name) or scale_of(row, self.start(row), season=self.settings.season)

    def start(self, row: SeriesRow) -> int:
        """Return the first step that may be forecast. The scale of a new series needs some history."""
        if row.name in self.scales:
            return row.start
        return max(row.start, min(self.settings.context, len(row.targets) // 2))

    def encode_targets(self, row: SeriesRow, scale: SeriesScale) -> Values:
        """Standardize in double precision."""
        encoded = scale.targets.encode(row.targets)
        limit = float(np.finfo(np.float32).max)
        if np.nanmax(np.abs(encoded), initial=0.0) > limit:
            raise DataError(
                "a value is too far from those of the training data.",
                where=row.row.where,
                cure="Correct the number.",
            )
        return encoded

    def encode_known(self, row: SeriesRow, scale: SeriesScale, *, num_steps: int) -> Values:
        """Return the columns that are known in advance, for the first steps; some may be in the future."""
        times = row.times
        if num_steps > len(times):
            times = np.concatenate([times, times_after(times, num_steps - len(times), self.frequency)])
        known = self._require_known(row, times[:num_steps])
        static = np.broadcast_to(self.static.encode(row.static), (num_steps, self.static.width))
        calendar = calendar_features(times[:num_steps], self.periods)
        return np.concatenate([fill_missing(scale.known.encode(known)), calendar, static], axis=1)

    def _require_known(self, row: SeriesRow, times: np.ndarray) -> Values:
        """Reject a future value that should be known but is missing."""
        if not len(self.columns.known):
            return np.zeros((len(times), 0))
        known = row.known[: len(times)]
        future = np.full((len(times) - len(known), len(self.columns.known)), np.nan)
        known = np.concatenate([known, future])
        missing = ~np.isfinite(known[len(row.targets) :])
        if missing.any():
            names = [
                name
                for name, is_missing in zip(self.columns.known, missing.any(axis=0), strict=True)
                if is_missing
            ]
            steps = times[len(row.targets) :][missing.any(axis=1)]
            raise DataError(
                f"column '{names[0]}' is known in advance, but has no value for {count_of(len(steps), 'time')} to"
                f" forecast: {', '.join(map(time_text, steps[:5]))}{' …' if len(steps) > 5 else ''}.",
                where=row.row.where if not row.name else f"{row.row.where}, series '{row.name}'",
                cure=f"Add rows for these times with {', '.join(names)}; their targets may be empty.",
            )
        return known

    def encode_split(self, name: str, source: Source) -> ForecastSplit:
        made_from = {
            **self.cache_key(),
            "series": digest_of(self.save),
            "context": self.settings.context,
        }
        store = cached_store(made_from, lambda folder: self._write(source, folder), source=source)
        is_train = name == "train"
        windows = Windows.find(
            store,
            settings=self.settings,
            horizon=self.network_horizon if is_train else self.horizon,
            is_train=is_train,
        )
        if not len(windows.places):
            raise DataError(
                f"the {name} part has no series with {count_of(windows.horizon, 'step')} to forecast after some"
                " history.",
                where=source.name,
                cure="Set a smaller data.horizon, or use longer series.",
            )
        return ForecastSplit(
            name, source, store, windows.notes(), windows=windows.places, horizon=windows.horizon
        )

    def _write(self, source: Source, folder: Path) -> None:
        num_targets, num_inputs = len(self.columns.targets), self.num_columns - len(self.columns.targets)
        columns = [
            StepColumn(TARGETS, np.dtype(np.float32), num_targets),
            StepColumn(TRUTH, np.dtype(np.float64), num_targets),
            StepColumn(TIMES, np.dtype(np.int64)),
            SequenceColumn(MEAN, np.dtype(np.float64), num_targets),
            SequenceColumn(DEVIATION, np.dtype(np.float64), num_targets),
            SequenceColumn(NAIVE_ERROR, np.dtype(np.float64), num_targets),
            SequenceColumn(START, np.dtype(np.int64)),
            SequenceColumn(LINE, np.dtype(np.int64)),
        ]
        if num_inputs:
            columns.append(StepColumn(INPUTS, np.dtype(np.float32), num_inputs))
        writer = StoreWriter(folder, columns)
        names, has_dates = list[str](), False
        for row in map(SeriesRow, source.rows()):
            scale, num_steps = self.scale(row), len(row.targets)
            has_dates = row.times.dtype.kind == "M"
            inputs = self.encode_inputs(row, scale, num_steps=num_steps)
            writer.append(
                **{
                    TARGETS: self.encode_targets(row, scale).astype(np.float32),
                    TRUTH: row.targets,
                    TIMES: row.times[:num_steps].astype(np.int64),
                    MEAN: scale.targets.mean,
                    DEVIATION: scale.targets.deviation,
                    NAIVE_ERROR: scale.naive_error,
                    START: self.start(row),
                    LINE: row.row.line,
                },
                **({INPUTS: inputs.astype(np.float32)} if num_inputs else {}),
            )
            names.append(row.name)
        writer.finish(names=names, has_dates=has_dates)

    def encode_inputs(self, row: SeriesRow, scale: SeriesScale, *, num_steps: int) -> Values:
        """Return features and known columns of every step; a missing feature is its last known value."""
        features = fill_missing(scale.features.encode(row.features[:num_steps]))
        return np.concatenate([features, self.encode_known(row, scale, num_steps=num_steps)], axis=1)

    def collate(self, split: ForecastSplit, rows: Indices) -> Batch:
        """Build a batch from some windows of a split."""
        series, origins = split.windows[rows].T
        context, horizon = self.settings.context, split.horizon
        first = split.offsets[:-1][series][:, None]
        before = origins[:, None] + np.arange(-context, 0)  # (batch, context)
        after = first + origins[:, None] + np.arange(horizon)  # (batch, horizon)
        is_step = before >= 0
        before = first + np.maximum(before, 0)
        targets = split.targets[before]
        return self.batch(
            targets=np.where(is_step[..., None], targets, np.nan),
            inputs=np.where(is_step[..., None], split.inputs[before], 0.0),
            known=split.inputs[after][..., len(self.columns.features) :],
            truth=split.targets[after],
            rows=rows,
        )

    def batch(
        self,
        *,
        targets: Float[np.ndarray, "batch context targets"],
        inputs: Float[np.ndarray, "batch context columns"],
        known: Float[np.ndarray, "batch horizon known"],
        truth: Float[np.ndarray, "batch horizon targets"],
        rows: Indices,
    ) -> Batch:
        """Build a batch; NaN is a missing value."""
        is_known, is_truth = np.isfinite(targets), np.isfinite(truth)
        steps = np.concatenate([np.where(is_known, targets, 0.0), inputs], axis=-1).astype(np.float32)
        named = {
            "is_known": is_known,
            "known": known.astype(np.float32),
            "truth": np.where(is_truth, truth, 0.0).astype(np.float32),
            "is_truth": is_truth,
        }
        return Batch(
            inputs=torch.from_numpy(steps),
            is_token=torch.ones(steps.shape[:2], dtype=torch.bool),
            targets={name: torch.from_numpy(value) for name, value in named.items()},
            rows=torch.from_numpy(np.asarray(rows)),
        )


def scale_of(row: SeriesRow, num_steps: int, *, season: int) -> SeriesScale:
    """Learn the scale of a series from its first steps."""
    targets, features, known = (
        ColumnScale.fit(values[:num_steps]) for values in (row.targets, row.features, row.known)
    )
    errors = [seasonal_scale(values, season) for values in row.targets[:num_steps].T]
    return SeriesScale(targets, features, known, np.array(errors))


def fill_missing(values: Values) -> Values:
    """Replace a missing value by the last known one, or by the mean, 0, if there is none before it."""
    return np.nan_to_num(fill_forward(values), nan=0.0)
