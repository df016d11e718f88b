"""Splits of series: cut in time, and files that continue each other."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from seqlab.core.errors import DataError
from seqlab.sources.views.open_series import join_further_in_time
from seqlab.sources.views.time_series import TimeSeriesSource
from tests.sources.series_files import days, part_of, read, splits, values_of, write


def numbers(values: np.ndarray) -> list[float]:
    return [float(value) for value in values.ravel()]


def table(
    folder: Path, name: str, first: int, count: int, *, shops: str = "", first_day: str = "2024-01-01"
) -> Path:
    """Value n on day n, from day `first` on."""
    stamps = days(first + count, first_day)
    rows = [
        f"{stamps[n]},{shop}{',' if shops else ''}{n}"
        for shop in shops or [""]
        for n in range(first, first + count)
    ]
    return write(folder, name, "date,shop,sales" if shops else "date,sales", *rows)


def test_parts_follow_each_other_and_carry_the_history(tmp_path: Path) -> None:
    opened = splits(table(tmp_path, "a.csv", 0, 40), horizon=3)
    train, valid, test = (values_of(part_of(opened, name))[""] for name in ("train", "valid", "test"))
    assert numbers(train["targets"]) == list(range(32))
    assert (valid["start"], numbers(valid["targets"])) == (32, list(range(36)))
    assert (test["start"], numbers(test["targets"])) == (36, list(range(40)))


def test_a_part_is_at_least_one_horizon_long(tmp_path: Path) -> None:
    opened = splits(table(tmp_path, "a.csv", 0, 40), horizon=9)
    valid, test = (values_of(part_of(opened, name))[""] for name in ("valid", "test"))
    assert (len(valid["times"]) - valid["start"], len(test["times"]) - test["start"]) == (9, 9)


def test_too_few_steps_name_the_numbers_and_the_settings(tmp_path: Path) -> None:
    with pytest.raises(
        DataError, match=r"a\.csv: the table has 29 steps.*10.*10 for valid and 10 for test.*11"
    ) as caught:
        splits(table(tmp_path, "a.csv", 0, 29), horizon=10)
    assert all(setting in caught.value.cure for setting in ("data.horizon", "data.test_share"))
    assert set(splits(table(tmp_path, "b.csv", 0, 31), horizon=10).parts) == {"train", "valid", "test"}


def test_all_series_are_cut_at_the_same_moments(tmp_path: Path) -> None:
    stamps = days(60)
    begins = {"a": (0, 50), "b": (10, 60), "late": (57, 60), "early": (0, 20)}
    rows = [f"{stamps[n]},{shop},{n}" for shop, (start, stop) in begins.items() for n in range(start, stop)]
    opened = splits(write(tmp_path, "a.csv", "date,shop,sales", *rows), horizon=2, sequence="shop")
    train, valid, test = (values_of(part_of(opened, name)) for name in ("train", "valid", "test"))
    assert {name: values["targets"][-1, 0] for name, values in train.items()} == {
        "a": 47,
        "b": 47,
        "early": 19,
    }
    assert {
        name: (values["targets"][values["start"], 0], values["targets"][-1, 0])
        for name, values in valid.items()
    } == {
        "a": (48, 49),
        "b": (48, 53),
    }
    assert {
        name: (values["targets"][values["start"], 0], values["targets"][-1, 0])
        for name, values in test.items()
    } == {"b": (54, 59)}
    assert any("1 series begin" in reason for reason in opened.reasons)


def test_without_times_every_series_is_cut_from_its_end(tmp_path: Path) -> None:
    rows = [
        f"s{row}," + ",".join(str(n) if n < length else "" for n in range(40))
        for row, length in enumerate((40, 30))
    ]
    path = write(tmp_path, "a.csv", "id," + ",".join(f"V{n}" for n in range(40)), *rows)
    test = values_of(part_of(splits(path, horizon=5), "test"))
    assert {name: (values["start"], len(values["times"])) for name, values in test.items()} == {
        "s0": (35, 40),
        "s1": (25, 30),
    }


def test_a_test_file_continues_the_series_of_the_training_file(tmp_path: Path) -> None:
    opened = splits(
        table(tmp_path, "train.csv", 0, 30, shops="ab"),
        test=table(tmp_path, "test.csv", 32, 4, shops="ab"),
        horizon=2,
    )
    assert set(opened.parts) == {"train", "valid", "test"}
    test = values_of(part_of(opened, "test"))["b"]
    assert test["start"] == 32
    assert numbers(test["targets"])[:30] == list(range(30))
    assert np.isnan(test["targets"][30:32]).all()
    assert numbers(test["targets"])[32:] == [32, 33, 34, 35]


def test_the_later_file_wins_with_a_warning_and_training_ends_before_it(tmp_path: Path) -> None:
    train = table(tmp_path, "train.csv", 0, 20)
    test = write(
        tmp_path,
        "test.csv",
        "date,sales",
        f"{days(20)[19]},55",
        *(f"{day},{n}" for n, day in enumerate(days(4, "2024-01-21"), 20)),
    )
    opened = splits(train, test=test, horizon=2)
    (warning,) = opened.warnings
    assert all(
        fact in warning for fact in ("2024-01-20", "line 21", "is 19 in", "55 in", "test.csv (line 2)")
    )
    assert numbers(values_of(part_of(opened, "valid"))[""]["targets"]) == list(range(19))
    held = values_of(part_of(opened, "test"))[""]
    assert (held["start"], held["targets"][19, 0]) == (19, 55)


def test_a_test_file_that_repeats_the_training_file_begins_after_it(tmp_path: Path) -> None:
    opened = splits(table(tmp_path, "train.csv", 0, 20), test=table(tmp_path, "test.csv", 0, 26), horizon=2)
    assert values_of(part_of(opened, "test"))[""]["start"] == 20
    assert not opened.warnings


def test_a_test_file_inside_the_training_file_is_taken_out_of_it(tmp_path: Path) -> None:
    opened = splits(table(tmp_path, "train.csv", 0, 20), test=table(tmp_path, "test.csv", 15, 5), horizon=2)
    assert values_of(part_of(opened, "test"))[""]["start"] == 15
    assert max(numbers(values_of(part_of(opened, "valid"))[""]["targets"])) == 14


def test_a_test_file_from_before_the_training_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"test\.csv: it begins at 2024-01-01.*20 of the 20 steps"):
        splits(table(tmp_path, "train.csv", 30, 20), test=table(tmp_path, "test.csv", 0, 9), horizon=2)


def test_unknown_series_are_left_out_with_a_warning_and_refused_if_there_is_no_other(tmp_path: Path) -> None:
    train = table(tmp_path, "train.csv", 0, 30, shops="ab")
    opened = splits(train, test=table(tmp_path, "test.csv", 30, 4, shops="bc"), horizon=2)
    assert list(values_of(part_of(opened, "test"))) == ["b"]
    assert any("'c'" in warning and "test.csv" in warning for warning in opened.warnings)
    with pytest.raises(DataError, match=r"other\.csv: none of its 1 series.*'c'") as caught:
        splits(train, test=table(tmp_path, "other.csv", 30, 4, shops="c"), horizon=2, sequence="shop")
    assert "data.sequence" in caught.value.cure


def test_validation_and_test_files_follow_each_other(tmp_path: Path) -> None:
    opened = splits(
        table(tmp_path, "train.csv", 0, 20),
        valid=table(tmp_path, "valid.csv", 20, 5),
        test=table(tmp_path, "test.csv", 25, 5),
        horizon=2,
    )
    valid, test = (values_of(part_of(opened, name))[""] for name in ("valid", "test"))
    assert (valid["start"], numbers(valid["targets"])) == (20, list(range(25)))
    assert (test["start"], numbers(test["targets"])) == (25, list(range(30)))


def test_a_wide_test_file_continues_every_series_at_its_own_end(tmp_path: Path) -> None:
    rows = [
        f"s{row}," + ",".join(str(n) if n < length else "" for n in range(20))
        for row, length in enumerate((20, 15))
    ]
    train = write(tmp_path, "train.csv", "id," + ",".join(f"V{n}" for n in range(20)), *rows)
    test = write(
        tmp_path,
        "test.csv",
        "id," + ",".join(f"V{n}" for n in range(8)),
        *(f"s{n}," + ",".join(["7"] * 8) for n in (1, 0)),
    )
    found = values_of(part_of(splits(train, test=test, horizon=3), "test"))
    assert {name: (values["start"], len(values["times"])) for name, values in found.items()} == {
        "s0": (20, 28),
        "s1": (15, 23),
    }
    assert found["s1"]["targets"][14:17].ravel().tolist() == [14, 7, 7]


def test_no_later_value_is_in_an_earlier_part(tmp_path: Path) -> None:
    path = table(tmp_path, "a.csv", 0, 40)
    before = values_of(part_of(splits(path, horizon=3), "valid"))[""]
    lines = path.read_text().splitlines()
    path.write_text("\n".join([*lines[:37], *(f"{line.split(',')[0]},999" for line in lines[37:])]) + "\n")
    after = values_of(part_of(splits(path, horizon=3), "valid"))[""]
    assert np.array_equal(before["targets"], after["targets"])


def test_a_further_file_has_the_history_of_all_files_of_a_run(tmp_path: Path) -> None:
    def source(name: str, first: int, count: int) -> TimeSeriesSource:
        return read(table(tmp_path, name, first, count))[0]

    before = {"train": source("train.csv", 0, 20), "test": source("test.csv", 20, 5)}
    found = values_of(join_further_in_time(source("new.csv", 25, 3), before))[""]
    assert (found["start"], numbers(found["targets"])) == (25, list(range(28)))
    alone = source("new.csv", 25, 3)
    assert join_further_in_time(alone, {}) is alone
    again = values_of(join_further_in_time(source("test.csv", 20, 5), before))[""]
    assert (again["start"], numbers(again["targets"])) == (20, list(range(25)))


def test_only_the_last_part_knows_what_comes_after_it(tmp_path: Path) -> None:
    rows = [f"{day},{n if n < 40 else ''},{n}" for n, day in enumerate(days(45))]
    opened = splits(write(tmp_path, "a.csv", "date,sales,promo", *rows), horizon=3, known=("promo",))
    found = {name: values_of(part_of(opened, name))[""] for name in ("train", "valid", "test")}
    assert {name: len(values["known"]) for name, values in found.items()} == {
        "train": 32,
        "valid": 36,
        "test": 45,
    }
    assert len(found["test"]["targets"]) == 40
