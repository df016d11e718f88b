"""What `seqlab data` finds in series to forecast."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import numpy as np

from seqlab.sources.survey.series_survey import SeriesSurvey, far_off
from seqlab.sources.survey.survey import survey
from tests.sources.series_files import days, splits, write


def pressures(count: int, wrong: dict[int, str]) -> list[str]:
    return [f"{day},{n % 7},{wrong.get(n, 1010 + n % 5)}" for n, day in enumerate(days(count))]


def test_absurd_values_are_named_with_their_lines_in_their_own_split(tmp_path: Path) -> None:
    train = write(tmp_path, "train.csv", "date,temp,pressure", *pressures(200, {50: "7679", 120: "-3"}))
    later = [row.replace("2024-01-01", "2024-07-19") for row in pressures(1, {0: "59"})]
    more = [f"{day},{n},1011" for n, day in enumerate(days(29, "2024-07-20"))]
    opened = splits(train, test=write(tmp_path, "test.csv", "date,temp,pressure", *later, *more), horizon=7)
    found = survey(opened.parts, text="text")
    about = {
        name: [w for w in found.warnings if w.startswith(f"{name}: ") and "pressure" in w]
        for name in opened.parts
    }
    assert [len(sentences) for sentences in about.values()] == [1, 0, 1]
    assert all(
        fact in about["train"][0] for fact in ("2 values", "7679", "line 52", "-3", "line 122", "median 1012")
    )
    assert all(fact in about["test"][0] for fact in ("1 value ", "59 at 2024-07-19", "line 2"))
    assert not any("'temp'" in warning for warning in found.warnings)


def test_the_facts_of_a_split_count_only_its_own_steps(tmp_path: Path) -> None:
    rows = [
        f"{day},{shop},{5 if shop == 'b' else n if n != 3 else ''}"
        for shop in "ab"
        for n, day in enumerate(days(40))
    ]
    opened = splits(write(tmp_path, "a.csv", "date,shop,sales", *rows), horizon=3, sequence="shop")
    found = survey(opened.parts, text="text")
    train, test = (found.parts[name].series for name in ("train", "test"))
    assert train is not None
    assert test is not None
    assert (train.num_series, train.num_steps, train.longest) == (2, 64, 32)
    assert (train.first_time, train.last_time, train.frequency) == ("2024-01-01", "2024-02-01", "daily")
    assert (train.columns["sales"].missing, test.columns["sales"].missing) == (1, 0)
    assert (test.num_steps, test.first_time) == (8, "2024-02-06")
    assert any("1 constant series" in warning and "b" in warning for warning in found.warnings)
    assert SeriesSurvey.from_json(asdict(train)) == train


def test_long_tails_and_short_series_have_no_outliers() -> None:
    sales = np.random.default_rng(5).lognormal(sigma=2.5, size=500)
    assert not far_off(sales).any()
    assert not far_off(np.array([1.0, 2.0, 900.0])).any()
    assert not far_off(np.array([0.0] * 60 + [5.0])).any()  # mostly zero: no scale to compare with
