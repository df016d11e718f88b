"""The columns of a table of series to forecast, filled in where the settings leave them empty."""

from __future__ import annotations

from seqlab.core.errors import DataError
from seqlab.sources.base import Source, TextSource, require_columns
from seqlab.sources.column_profile import profile
from seqlab.sources.column_roles import SAMPLE, first_rows
from seqlab.sources.date_order import decide_date_order
from seqlab.sources.roles.future_roles import future_roles
from seqlab.sources.series_columns import SeriesColumns
from seqlab.sources.settings import DataSettings
from seqlab.sources.views.joined_columns import names_of


def find_series_columns(source: Source, data: DataSettings) -> tuple[DataSettings, list[str]]:
    """The settings with time, series, targets, features and the order of dates, with reasons.

    `data.target` stays empty for a table with one series per row.
    """
    named = [names_of(name, source.columns) for name in (data.time, data.sequence, data.target) if name]
    require_columns(
        source, [*(name for names in named for name in names), *data.features, *data.known, *data.static]
    )
    if isinstance(source, TextSource):
        raise _no_numbers(source)
    rows = first_rows(source, SAMPLE)
    columns = {name: profile(rows, name) for name in source.columns}
    roles = future_roles(rows, columns, data)
    if roles is None:
        raise _no_numbers(source)
    data = data.model_copy(
        update={
            "time": roles.time,
            "sequence": roles.sequence,
            "target": roles.target,
            "features": roles.features or data.features,
            "static": roles.static or data.static,
        }
    )
    reasons = [reason.sentence for reason in roles.reasons]
    if not data.time and data.target:
        reasons.append("no time column: rows are taken in order; set data.time=NAME to change it")
    return _with_date_order(source, data, reasons)


def _with_date_order(
    source: Source, data: DataSettings, reasons: list[str]
) -> tuple[DataSettings, list[str]]:
    if data.date_order or not data.time:
        return data, reasons
    order, why = decide_date_order(source, SeriesColumns.of(data, source.columns).time_cell)
    if not order:
        return data, reasons
    other = "month" if order == "day" else "day"
    sentence = (
        f"dates in '{data.time}' begin with the {order} ({why}); set data.date_order={other} to change it"
    )
    return data.model_copy(update={"date_order": order}), [*reasons, sentence]


def _no_numbers(source: Source) -> DataError:
    return DataError(
        f"none of the columns ({', '.join(source.columns[:12])}) holds numbers to forecast.",
        where=source.name,
        cure="A table to forecast has a column with times and one with numbers; name them: data.time=NAME data.target=NAME",
    )
