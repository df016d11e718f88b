"""Numbers of other locales mean the same in training data and in what is predicted."""

from __future__ import annotations

from pathlib import Path

import pytest

from seqlab.recipes.read import check
from seqlab.runs.data import open_data
from seqlab.sources.local_numbers import plain
from seqlab.sources.open_dataset import open_inputs
from seqlab.sources.settings import DataSettings
from seqlab.tasks.spec import find_spec


@pytest.mark.parametrize(
    ("cell", "decimal", "number"),
    [
        ("1.234", ",", 1234.0),
        ("-12.345.678", ",", -12345678.0),
        ("1.234,5", ",", 1234.5),
        ("1.23", ",", 1.23),
        ("0.234", ",", 0.234),
        ("1,234", ".", 1234.0),
        ("1.234", ".", 1.234),
        ("1.234", "", 1.234),
    ],
)
def test_a_point_before_three_digits_separates_thousands_where_the_comma_is_decimal(
    cell: str, decimal: str, number: float
) -> None:
    assert float(plain(cell, decimal)) == number  # type: ignore[arg-type]  # one of the three


def test_numbers_with_a_unit_are_numbers_and_another_unit_is_none(tmp_path: Path) -> None:
    cells = [f"{20 + n / 7:.2f}".replace(".", ",") + " °C" for n in range(40)] + ["99,5 °F"]
    path = tmp_path / "points.csv"
    rows = "".join(f"substance number {n};{cell}\n" for n, cell in enumerate(cells))
    path.write_text("text;value\n" + rows, encoding="utf-8")
    opened = open_data(check({"data": {"train": str(path)}}, where="test"))
    assert (
        opened.recipe.task,
        opened.recipe.data.label,
        opened.recipe.data.units,
        opened.recipe.data.decimal,
    ) == (
        "regression",
        "value",
        ("°C",),
        ",",
    )
    assert "°C" in " ".join(opened.reasons)
    found = [float(row.values["value"]) for part in opened.parts.values() for row in part.rows()]
    assert sorted(found) == [round(20 + n / 7, 2) for n in range(40)]
    assert "line 42" in " ".join(opened.reasons)


def test_stars_that_are_written_with_their_unit_are_still_classes(tmp_path: Path) -> None:
    path = tmp_path / "reviews.csv"
    rows = "".join(f"this was thing number {n} I think,{1 + n % 5} stars\n" for n in range(60))
    path.write_text("review,rating\n" + rows)
    opened = open_data(check({"data": {"train": str(path)}}, where="test"))
    assert (opened.recipe.task, opened.recipe.data.label) == ("classification", "rating")


def test_a_file_to_predict_has_the_decimal_separator_of_the_training_data(tmp_path: Path) -> None:
    path = tmp_path / "new.csv"
    path.write_text("id;a;b\n" + "".join(f"{n};{n},5;1.000,25\n" for n in (1, 1, 2)), encoding="utf-8")
    data = DataSettings(sequence="id", features=("a", "b"), label="y", decimal=",")
    inputs = list(open_inputs(str(path), data, find_spec("classification")))
    assert inputs == [[[1.5, 1000.25], [1.5, 1000.25]], [[2.5, 1000.25]]]
