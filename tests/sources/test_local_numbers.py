"""Numbers of other locales mean the same in training data and in what is predicted."""

from __future__ import annotations

from pathlib import Path

import pytest

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


def test_a_file_to_predict_has_the_decimal_separator_of_the_training_data(tmp_path: Path) -> None:
    path = tmp_path / "new.csv"
    path.write_text("id;a;b\n" + "".join(f"{n};{n},5;1.000,25\n" for n in (1, 1, 2)), encoding="utf-8")
    data = DataSettings(sequence="id", features=("a", "b"), label="y", decimal=",")
    inputs = list(open_inputs(str(path), data, find_spec("classification")))
    assert inputs == [[[1.5, 1000.25], [1.5, 1000.25]], [[2.5, 1000.25]]]
