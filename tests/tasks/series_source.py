"""Time series in memory, as a source of rows like those of a file."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from seqlab.recipes.read import check
from seqlab.recipes.recipe import Recipe
from seqlab.sources.base import Row, Source
from seqlab.sources.frequency import DAY, Frequency, Grid
from seqlab.sources.views.time_series import TimeSeriesSource
from seqlab.tasks.spec import find_spec
from tests.tasks.encoded_task import EncodedTask, encode_task

START = np.datetime64("2024-01-01T00:00:00", "s")  # a Monday


class SeriesSource(TimeSeriesSource):
    """Rows of time series on a daily grid, or another."""

    def __init__(self, rows: Sequence[Mapping[str, Any]], frequency: Frequency | None = None) -> None:
        self.name, self.columns = "series", ["series", "targets"]
        self.grid = Grid(frequency or Frequency(DAY))
        self.series_rows = [dict(row) for row in rows]
        first = self.series_rows[0]
        self.target_names, self.feature_names, self.known_names = (
            tuple(f"{kind}{place}" for place in range(first[kind].shape[1] if kind in first else 0))
            for kind in ("targets", "features", "known")
        )

    @property
    def season(self) -> int:
        return self.frequency.season

    @property
    def has_times(self) -> bool:
        return True

    def rows(self) -> Iterator[Row]:
        for number, row in enumerate(self.series_rows, start=1):
            yield Row(dict(row), self.name, number)

    def fingerprint(self) -> str:
        digest = hashlib.sha256()
        for row in self.series_rows:
            for name, value in sorted(row.items()):
                digest.update(f"{name}{np.asarray(value).tolist()!r}".encode())
        return digest.hexdigest()


def row(
    targets: Any, *, name: str = "", start: int = 0, known: Any = None, seconds: int = DAY, **more: Any
) -> dict[str, Any]:
    """A row with one target per step, or several."""
    values = np.asarray(targets, np.float64)
    values = values[:, None] if values.ndim == 1 else values
    times = START + np.arange(len(values)) * np.timedelta64(seconds, "s")
    columns = {key: np.asarray(value, np.float64) for key, value in more.items() if key == "features"}
    if known is not None:
        columns["known"] = np.asarray(known, np.float64)
    rest = {key: value for key, value in more.items() if key != "features"}
    return {"series": name, "times": times, "targets": values, "start": start, **columns, **rest}


def parts(rows: Sequence[Mapping[str, Any]], *, ends: tuple[int, int]) -> dict[str, Source]:
    """The three parts of every series, cut at the same two steps; a later part has the history before it."""
    stops = {"train": (0, ends[0]), "valid": (ends[0], ends[1]), "test": (ends[1], None)}

    def cut(values: Any, stop: int | None) -> Any:
        return values[:stop] if isinstance(values, np.ndarray) and values.ndim else values

    return {
        part: SeriesSource(
            [{**{key: cut(value, stop) for key, value in one.items()}, "start": start} for one in rows]
        )
        for part, (start, stop) in stops.items()
    }


def make(
    sources: Mapping[str, Source], *, data: Mapping[str, Any] | None = None, **sections: Any
) -> EncodedTask:
    """The parts of the task around some series."""
    recipe = forecasting_recipe(data=data, **sections)
    recipe, _ = find_spec("forecasting").fill_defaults(recipe, sources["train"])
    return encode_task(recipe, sources)


def forecasting_recipe(*, data: Mapping[str, Any] | None = None, **sections: Any) -> Recipe:
    raw = {
        "task": "forecasting",
        "data": {"target": "value", "horizon": 3, **(data or {})},
        "model": {"kind": "recurrent", "cell": "gru", "hidden_size": 5, "dropout": 0.0},
        **sections,
    }
    return check(raw, where="test")
