"""The hooks of a task that forecasts: a table -> series, files that continue each other, parts cut in time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import cast

from seqlab.sources.base import Source
from seqlab.sources.opened_data import OpenedData
from seqlab.sources.settings import DataSettings
from seqlab.sources.views.continued_series import ContinuedSeries, continue_series
from seqlab.sources.views.time_cut import cut_in_time
from seqlab.sources.views.time_series import TimeSeries, TimeSeriesSource
from seqlab.sources.views.wide_time_series import WideTimeSeries


def open_series(source: Source, data: DataSettings) -> TimeSeriesSource:
    """One row per series: of a table with one row per time, or, without a target column, with one row per series."""
    return TimeSeries(source, data) if data.target else WideTimeSeries(source, data)


def join_in_time(opened: OpenedData) -> OpenedData:
    """Files for later splits continue the training file. Sets the horizon, and tells about times."""
    parts = cast("dict[str, TimeSeriesSource]", opened.parts)
    train, data = parts["train"], opened.settings
    frequency = train.frequency
    reasons = [
        f"times: {frequency.name}",
        *(sentence for part in parts.values() for sentence in part.findings()),
    ]
    if not frequency.is_clock:
        reasons.append(_about_season(train.season))
    if not data.horizon:
        data = data.model_copy(update={"horizon": frequency.horizon(train.season)})
        reasons.append(f"forecasts {data.horizon} steps; set data.horizon=N to change it")
    joined, about_files, warnings = continue_series(parts)
    return replace(
        opened,
        settings=data,
        parts=dict(joined),
        reasons=[*opened.reasons, *reasons, *about_files],
        warnings=[*opened.warnings, *warnings],
    )


def join_further_in_time(source: Source, before: Mapping[str, Source]) -> Source:
    """A further file with the history of the files that a run was trained and scored on."""
    series = cast("dict[str, TimeSeriesSource]", dict(before))
    if "train" not in series:
        return source
    for part in (series[name] for name in ("valid", "test") if name in series):
        series["train"] = ContinuedSeries(series["train"], part)
    return ContinuedSeries(series["train"], cast("TimeSeriesSource", source))


def hold_out_in_time(opened: OpenedData) -> OpenedData:
    """Hold out the end of the training data for the splits that no file provides."""
    shares = opened.shares()
    if not any(shares.values()):
        return opened
    train = cast("TimeSeriesSource", opened.parts["train"])
    held, reasons = cut_in_time(train, opened.settings, shares)
    rest = {name: part for name, part in opened.parts.items() if name != "train"}
    return replace(opened, parts={**held, **rest}, reasons=[*opened.reasons, *reasons])


def _about_season(season: int) -> str:
    pattern = f"a pattern that repeats every {season} steps" if season > 1 else "no repeating pattern"
    return f"without timestamps, the autocorrelation shows {pattern}; set forecasting.season=N to change it"
