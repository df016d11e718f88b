"""The rows of an in-memory table of any supported type."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from seqlab.core.errors import UsageError, listed, shortened

ACCEPTED = (
    "Pass a file, a folder, or the name of a built-in dataset or recipe; rows as dicts or"
    " tuples; a pandas or polars DataFrame, an Arrow table or a Hugging Face dataset; or a"
    " dict of splits (train, valid, test)."
)


def read_rows(table: Any) -> list[dict[str, Any]]:
    """Every row as plain values by column name; missing values are None.

    >>> read_rows([("good", 1), ("bad", 0)])
    [{'column_1': 'good', 'column_2': 1}, {'column_1': 'bad', 'column_2': 0}]
    >>> read_rows({"text": ["good", "bad"], "label": [1, 0]})
    [{'text': 'good', 'label': 1}, {'text': 'bad', 'label': 0}]
    """
    rows = [{str(name): _plain(cell) for name, cell in row.items()} for row in _mappings(table)]
    if not rows:
        raise UsageError(f"the {type(table).__name__} is empty: there are no rows.", where="data")
    decoders = _label_decoders(table)
    for row in rows:
        row.update({name: decode(row[name]) for name, decode in decoders.items() if name in row})
    return rows


def _mappings(table: Any) -> Iterable[Mapping[Any, Any]]:
    if isinstance(table, Mapping):
        return _of_columns(table)
    if isinstance(table, Sequence) and not isinstance(table, str | bytes):
        return _of_list(table)
    if hasattr(table, "to_dict") and hasattr(table, "notna"):
        return _of_pandas(table)
    for method in ("to_dicts", "to_pylist"):  # polars, Arrow
        if hasattr(table, method):
            rows: Iterable[Mapping[Any, Any]] = getattr(table, method)()
            return rows
    if hasattr(table, "collect"):  # polars' LazyFrame
        return _mappings(table.collect())
    if hasattr(table, "column_names") and isinstance(table, Iterable):  # Hugging Face
        plain: Iterable[Mapping[Any, Any]] = (
            table.with_format(None) if hasattr(table, "with_format") else table
        )  # a format such as "pandas" or "torch" makes tables or tensors of the rows
        return plain
    raise UsageError(f"cannot read data of type {type(table).__name__}.", where="data", cure=ACCEPTED)


def _of_list(rows: Sequence[Any]) -> Iterable[Mapping[Any, Any]]:
    """Rows as dicts, or without names as tuples or lists."""
    for number, row in enumerate(rows, start=1):
        if not isinstance(row, Mapping | tuple | list):
            raise UsageError(
                f"row {number} of the list is of type {type(row).__name__} ({shortened(repr(row), 40)});"
                " expected a dict or tuple.",
                where="data",
                cure=f"For example, [{{'text': 'good', 'label': 'pos'}}, …]. {ACCEPTED}",
            )
        if not isinstance(row, Mapping) and any(isinstance(cell, Mapping) for cell in row):
            raise UsageError(
                f"row {number} is a list of dicts, expected one dict.",
                where="data",
                cure="Pass the list of rows itself: seqlab.train(rows) instead of seqlab.train([rows]).",
            )
        if isinstance(row, Mapping) != isinstance(rows[0], Mapping) or len(row) != len(rows[0]) != 0:
            _reject_other_shape(number, row, rows[0])
    if not rows or isinstance(rows[0], Mapping):
        return rows
    names = getattr(rows[0], "_fields", None) or [f"column_{place}" for place in range(1, len(rows[0]) + 1)]
    return [dict(zip(names, row, strict=True)) for row in rows]


def _reject_other_shape(number: int, row: Any, first: Any) -> None:
    """Dicts may lack a column; tuples may not, and the two cannot be mixed."""
    if isinstance(row, Mapping) and isinstance(first, Mapping):
        return
    raise UsageError(
        f"row {number} is a {type(row).__name__} of length {len(row)}, but row 1 is a"
        f" {type(first).__name__} of length {len(first)}.",
        where="data",
        cure="Give all rows the same columns, or use dicts.",
    )


def _of_columns(columns: Mapping[Any, Any]) -> list[dict[Any, Any]]:
    lengths = {}
    for name, column in columns.items():
        if isinstance(column, str | bytes) or not hasattr(column, "__len__"):
            raise UsageError(
                f"column {str(name)!r} is of type {type(column).__name__}, expected a list of values.",
                where="data",
                cure=ACCEPTED,
            )
        lengths[str(name)] = len(column)
    if len(set(lengths.values())) > 1:
        sizes = listed([f"{name} {length:,}" for name, length in lengths.items()])
        raise UsageError(f"the columns have different lengths: {sizes}.", where="data")
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def _of_pandas(frame: Any) -> list[dict[Any, Any]]:
    names = [str(name) for name in frame.columns]
    if repeated := sorted({name for name in names if names.count(name) > 1}):
        raise UsageError(
            f"the DataFrame has duplicate columns: {listed(repeated)}.",
            where="data",
            cure="Rename or drop them.",
        )
    rows: list[dict[Any, Any]] = frame.astype(object).where(frame.notna(), None).to_dict("records")
    return rows


def _plain(cell: Any) -> Any:
    """Converts arrays and numbers of other packages to Python types; NaN counts as missing."""
    value = cell.tolist() if hasattr(cell, "tolist") else cell
    return None if isinstance(value, float) and math.isnan(value) else value


def _label_decoders(table: Any) -> dict[str, Callable[[Any], Any]]:
    """By column: numbers -> names, if a Hugging Face dataset provides class names."""
    features = getattr(table, "features", None)
    if not isinstance(features, Mapping):
        return {}
    names = {
        name: getattr(getattr(feature, "feature", feature), "names", None)
        for name, feature in features.items()
    }
    return {str(column): _decoder(list(classes)) for column, classes in names.items() if classes}


def _decoder(names: list[str]) -> Callable[[Any], Any]:
    """
    >>> decode = _decoder(["neg", "pos"])
    >>> decode(1), decode([0, 1]), decode(-1), decode("pos")
    ('pos', ['neg', 'pos'], None, 'pos')
    """

    def decode(value: Any) -> Any:
        if isinstance(value, list | tuple):
            return [decode(entry) for entry in value]
        if not isinstance(value, int):
            return value
        return names[value] if 0 <= value < len(names) else None

    return decode
