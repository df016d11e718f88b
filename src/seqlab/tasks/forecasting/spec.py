"""Forecast time series: the next steps of one or many series, with bands.

A series has one or several targets; it may have features known up to now, columns known in advance, static columns and
a calendar.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING

from seqlab.models.settings.linear import LinearSettings
from seqlab.recipes.contradictions import Contradiction, contradiction_in
from seqlab.recipes.recipe import Recipe
from seqlab.sources.base import Row, Source
from seqlab.sources.column_roles import ColumnRoles
from seqlab.sources.opened_data import OpenedData
from seqlab.sources.roles.series_settings import find_series_columns
from seqlab.sources.settings import DataSettings
from seqlab.sources.views.joined_columns import names_of
from seqlab.tasks.forecasting.settings import ForecastingSettings
from seqlab.tasks.spec import OF_IMAGE_FILES, OF_LABELED_BATCHES, OF_PAIRS, TaskSpec, task_specs

if TYPE_CHECKING:
    from seqlab.sources.views.time_series import TimeSeriesSource
    from seqlab.tasks.parts import TaskParts


@task_specs.register("forecasting")
class ForecastingSpec(TaskSpec):
    """Predicts the next steps of time series."""

    name = "forecasting"
    title = "forecasting of the next steps"
    pipeline_tag = "time-series-forecasting"
    settings = ForecastingSettings
    guess_order = 20
    unit = "steps"
    is_causal = True
    ignored = (
        *OF_PAIRS,
        *OF_IMAGE_FILES,
        *OF_LABELED_BATCHES,
        "bag",
        "training.label_smoothing",
        "data.text",
        "data.label",
        "data.label_separator",
        "data.max_length",
        "data.train_rows",
    )

    def fits(self, source: Source, data: DataSettings, roles: ColumnRoles | None) -> bool:
        return roles is not None and roles.answer == "future"

    def find_columns(self, source: Source, data: DataSettings) -> tuple[DataSettings, list[str]]:
        return find_series_columns(source, data)

    def as_examples(self, source: Source, data: DataSettings) -> TimeSeriesSource:
        from seqlab.sources.views.open_series import open_series

        return open_series(source, data)

    def required_columns(self, source: Source, data: DataSettings) -> list[str]:
        return []

    def number_columns(self, data: DataSettings) -> list[str]:
        return [*names_of(data.target, []), *data.features, *data.known]

    def join_parts(self, opened: OpenedData) -> OpenedData:
        from seqlab.sources.views.open_series import join_in_time

        return join_in_time(opened)

    def join_further(self, source: Source, before: Callable[[], dict[str, Source]]) -> Source:
        from seqlab.sources.views.open_series import join_further_in_time

        return join_further_in_time(source, before())

    def hold_out(self, opened: OpenedData, *, seed: int) -> OpenedData:
        from seqlab.sources.views.open_series import hold_out_in_time

        return hold_out_in_time(opened)

    def read_inputs(self, source: Source, data: DataSettings, folder: Path) -> Iterator[Row]:
        """The series of a file; each is forecast from its last known target on."""
        from seqlab.sources.views.open_series import open_series

        return open_series(source, data).rows()

    def contradictions(self, recipe: Recipe) -> list[Contradiction]:
        from seqlab.tasks.forecasting.defaults import reject_conflicts

        return super().contradictions(recipe) + contradiction_in(lambda: reject_conflicts(recipe))

    def network_contradictions(self, recipe: Recipe) -> list[Contradiction]:
        """A linear forecast is no sequence network."""
        return [] if isinstance(recipe.model, LinearSettings) else super().network_contradictions(recipe)

    def fill_defaults(self, recipe: Recipe, train: Source) -> tuple[Recipe, list[str]]:
        from seqlab.tasks.forecasting.defaults import with_defaults

        return with_defaults(recipe, train)

    def example_commands(self, folder: Path, recipe: Recipe, example: str) -> list[str]:
        return [f"seqlab predict {quote(str(folder))} --file {quote(recipe.data.train)}"]

    def load_parts(self) -> TaskParts:
        from seqlab.tasks.forecasting.parts import PARTS

        return PARTS
