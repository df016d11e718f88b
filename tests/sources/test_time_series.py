"""Messy tables of series: what is read, what is said, what is refused."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from seqlab.core.errors import DataError
from tests.sources.series_files import days, read, values_of, write

NAN = math.nan


def same(actual: np.ndarray, expected: list[float]) -> bool:
    return np.array_equal(actual.ravel(), np.array(expected), equal_nan=True)


def test_semicolons_decimal_commas_and_days_first(tmp_path: Path) -> None:
    lines = ["Datum;Temperatur", "30.01.2024;1.234,5", "31.01.2024;2,25", "01.02.2024;-3,5"]
    source, reasons = read(write(tmp_path, "a.csv", *lines))
    values = values_of(source)[""]
    assert values["times"].astype("datetime64[D]").astype(str).tolist() == [
        "2024-01-30",
        "2024-01-31",
        "2024-02-01",
    ]
    assert same(values["targets"], [1234.5, 2.25, -3.5])
    assert any(
        "begin with the day" in reason and "line 2" in reason and "data.date_order=month" in reason
        for reason in reasons
    )


def test_two_series_whose_rows_alternate(tmp_path: Path) -> None:
    rows = [f"{day},{shop},{n + 100 * (shop == 'b')}" for n, day in enumerate(days(5)) for shop in ("a", "b")]
    source, _ = read(write(tmp_path, "a.csv", "date,shop,sales", *rows))
    found = values_of(source)
    assert list(found) == ["a", "b"]
    assert same(found["b"]["targets"], [100, 101, 102, 103, 104])
    assert found["b"]["lines"].tolist() == [3, 5, 7, 9, 11]


def test_series_may_need_two_columns(tmp_path: Path) -> None:
    rows = [
        f"{day},{s},{i},{10 * s + i + n / 8}"
        for n, day in enumerate(days(4))
        for s in (1, 2)
        for i in (3, 4, 5)
    ]
    source, reasons = read(write(tmp_path, "a.csv", "date,store,item,sales", *rows))
    found = values_of(source)
    assert list(found) == ["1 / 3", "1 / 4", "1 / 5", "2 / 3", "2 / 4", "2 / 5"]
    assert same(found["2 / 4"]["targets"], [24, 24.125, 24.25, 24.375])
    assert "data.sequence=" in " ".join(reasons)


def test_gaps_and_missing_cells_are_nan_and_counted(tmp_path: Path) -> None:
    stamps = [day for at, day in enumerate(days(12)) if at not in (3, 4)]
    cells = ["1", "2", "NA", "6", "", "8", "n/a", "10", "11", "12"]
    rows = [f"{day},{cell}" for day, cell in zip(stamps, cells, strict=True)]
    source, _ = read(write(tmp_path, "a.csv", "date,kwh", *rows))
    values = values_of(source)[""]
    assert same(values["targets"], [1, 2, NAN, NAN, NAN, 6, NAN, 8, NAN, 10, 11, 12])
    assert values["lines"].tolist() == [2, 3, 4, 0, 0, 5, 6, 7, 8, 9, 10, 11]
    assert any("2 times have no row" in sentence for sentence in source.findings())


def test_a_repeated_row_is_dropped_and_counted(tmp_path: Path) -> None:
    source, _ = read(
        write(tmp_path, "a.csv", "date,kwh", "2024-01-01,1", "2024-01-02,2", "2024-01-02,2", "2024-01-03,3")
    )
    assert same(values_of(source)[""]["targets"], [1, 2, 3])
    assert any("1 row repeats" in sentence for sentence in source.findings())


def test_another_value_for_the_same_time_names_both_lines(tmp_path: Path) -> None:
    rows = [f"{day},{n}" for n, day in enumerate(days(30))]
    path = write(tmp_path, "a.csv", "date,kwh", *rows, "2024-01-03,7")
    with pytest.raises(DataError, match=r"line 32: .*line 4.*2 there, 7 here") as caught:
        values_of(read(path, bad_rows="stop")[0])
    assert "data.bad_rows=skip" in caught.value.cure
    tolerant, _ = read(path)
    assert values_of(tolerant)[""]["targets"][2, 0] == 2  # the first one stays
    assert tolerant.bad_rows.count == 1


def test_text_in_a_column_of_numbers_is_an_error_or_a_skipped_row(tmp_path: Path) -> None:
    rows = [f"{day},{n if n != 7 else 'broken'}" for n, day in enumerate(days(30))]
    path = write(tmp_path, "a.csv", "date,kwh", *rows)
    with pytest.raises(DataError, match=r"a\.csv, line 9, column 'kwh': 'broken'"):
        values_of(read(path, bad_rows="stop")[0])
    tolerant, _ = read(path)
    assert math.isnan(values_of(tolerant)[""]["targets"][7, 0])
    assert tolerant.bad_rows.count == 1


def test_a_row_of_totals_is_no_time(tmp_path: Path) -> None:
    path = write(tmp_path, "a.csv", "month,sales", *(f"2023-{m:02d},{m}" for m in range(1, 13)), "Total,78")
    with pytest.raises(DataError, match=r"line 14, column 'month': 'Total'"):
        values_of(read(path)[0])
    source, _ = read(path, bad_rows="skip")
    assert same(values_of(source)[""]["targets"], list(range(1, 13)))
    assert source.frequency.months == 1


def test_offsets_are_converted_to_utc_and_said(tmp_path: Path) -> None:
    rows = [f"2024-03-01T{hour:02d}:00:00+02:00,{hour}" for hour in range(5)]
    source, reasons = read(write(tmp_path, "a.csv", "time,load", *rows))
    assert values_of(source)[""]["times"].astype(str).tolist()[0] == "2024-02-29T22:00:00"
    assert any("UTC" in reason for reason in reasons)
    assert (source.frequency.name, source.season) == ("hourly", 24)


def test_quarters(tmp_path: Path) -> None:
    source, _ = read(
        write(tmp_path, "a.csv", "quarter,gdp", *(f"{2020 + q // 4}-Q{q % 4 + 1},{q}.5" for q in range(6)))
    )
    values = values_of(source)[""]
    assert (source.frequency.months, source.season) == (3, 4)
    assert values["times"].astype("datetime64[D]").astype(str).tolist()[-1] == "2021-04-01"


def test_epoch_milliseconds(tmp_path: Path) -> None:
    source, _ = read(
        write(
            tmp_path, "a.csv", "timestamp,load", *(f"{1704067200000 + 900_000 * n},{n}.5" for n in range(8))
        )
    )
    assert str(values_of(source)[""]["times"][1]) == "2024-01-01T00:15:00"
    assert (source.frequency.seconds, source.season) == (900, 96)


def test_newest_rows_first(tmp_path: Path) -> None:
    rows = [f"{day},{n}" for n, day in enumerate(days(6))][::-1]
    source, _ = read(write(tmp_path, "a.csv", "Date,Close", *rows))
    assert same(values_of(source)[""]["targets"], [0, 1, 2, 3, 4, 5])


def test_a_constant_series_is_read(tmp_path: Path) -> None:
    source, _ = read(write(tmp_path, "a.csv", "date,kwh", *(f"{day},5" for day in days(6))))
    assert same(values_of(source)[""]["targets"], [5] * 6)


def test_weekdays_have_no_gap_at_the_weekend(tmp_path: Path) -> None:
    stamps = [day for day in days(28) if np.is_busday(day)]
    source, _ = read(write(tmp_path, "a.csv", "Date,Close", *(f"{day},{n}" for n, day in enumerate(stamps))))
    values = values_of(source)[""]
    assert same(values["targets"], list(range(20)))
    assert values["times"].astype("datetime64[D]").astype(str).tolist() == stamps
    assert (source.frequency.weekdays, source.season) == (True, 5)


def test_a_date_and_a_time_of_day_in_two_columns(tmp_path: Path) -> None:
    rows = [f"{16 + n // 24}/12/2006;{n % 24:02d}:00:00;{n}.5" for n in range(50)]
    source, _ = read(write(tmp_path, "a.csv", "Date;Time;Power", *rows))
    values = values_of(source)[""]
    assert str(values["times"][25]) == "2006-12-17T01:00:00"
    assert same(values["targets"], [n + 0.5 for n in range(50)])


@pytest.mark.parametrize(
    "header", ["ds,y", "timestamp,value", "Month,Passengers (thousands)", "observation_date,GDP"]
)
def test_variants_of_the_header(header: str, tmp_path: Path) -> None:
    rows = [f"{1949 + n // 12}-{n % 12 + 1:02d}-01,{100 + n * 13 % 41}" for n in range(30)]
    source, _ = read(write(tmp_path, "a.csv", header, *rows))
    assert source.target_names == (header.split(",")[1],)
    assert (source.frequency.months, len(values_of(source)[""]["targets"])) == (1, 30)


def test_what_is_known_in_advance_goes_on_after_the_last_target(tmp_path: Path) -> None:
    rows = [f"{day},{n if n < 5 else ''},{n % 2}" for n, day in enumerate(days(8))]
    source, _ = read(write(tmp_path, "a.csv", "date,sales,promo", *rows), known=("promo",))
    values = values_of(source)[""]
    assert same(values["targets"], [0, 1, 2, 3, 4])
    assert len(values["times"]) == 5
    assert same(values["known"], [0, 1, 0, 1, 0, 1, 0, 1])
    assert values["features"].shape == (5, 0)


def test_static_columns_must_be_constant_within_a_series(tmp_path: Path) -> None:
    rows = [f"{day},{shop},{shop.upper()},{n}" for shop in ("a", "b") for n, day in enumerate(days(4))]
    path = write(tmp_path, "a.csv", "date,shop,kind,sales", *rows)
    found = values_of(read(path, sequence="shop", static=("kind",))[0])
    assert {name: values["static"] for name, values in found.items()} == {
        "a": {"kind": "A"},
        "b": {"kind": "B"},
    }
    changing = [f"{day},{'A' if n < 4 else 'B'},{n}" for n, day in enumerate(days(8))]
    path = write(tmp_path, "b.csv", "date,kind,sales", *changing)
    with pytest.raises(DataError, match=r"line 6: column 'kind' changes from 'A' to 'B'"):
        values_of(read(path, static=("kind",), bad_rows="stop")[0])


def test_several_targets(tmp_path: Path) -> None:
    source, _ = read(
        write(tmp_path, "a.csv", "date,t,w,p", *(f"{d},{n},{n * 2},{n * 3}" for n, d in enumerate(days(6)))),
        target="t,p",
    )
    values = values_of(source)[""]
    assert source.target_names == ("t", "p")
    assert values["targets"][4].tolist() == [4, 12]
    assert values["features"][4].tolist() == [8]


def test_one_series_per_row(tmp_path: Path) -> None:
    header = ",".join(f"V{n}" for n in range(1, 32))
    rows = [
        f"H{row}," + ",".join(str(100 * row + n % 6) if n < length else "" for n in range(30))
        for row, length in ((1, 30), (2, 24), (3, 27))
    ]
    source, _ = read(write(tmp_path, "a.csv", header, *rows))
    found = values_of(source)
    assert {name: len(values["targets"]) for name, values in found.items()} == {"H1": 30, "H2": 24, "H3": 27}
    assert same(found["H2"]["targets"], [200 + n % 6 for n in range(24)])
    assert (source.frequency.is_clock, source.season) == (False, 6)


def test_times_too_irregular_for_a_grid_are_refused(tmp_path: Path) -> None:
    stamps = ["2020-01-01T00:00:00", "2020-01-01T00:00:01", "2020-01-01T00:00:02", "2024-01-01T00:00:00"]
    source, _ = read(
        write(tmp_path, "a.csv", "time,kwh", *(f"{stamp},{n}" for n, stamp in enumerate(stamps)))
    )
    with pytest.raises(DataError, match=r"every second.*4 rows.*126,230,401 steps"):
        values_of(source)


def test_a_large_table_is_read_again_and_gives_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [f"{day},{shop},{n + ord(shop)}" for shop in "ab" for n, day in enumerate(days(9))]
    path = write(tmp_path, "a.csv", "date,shop,sales", *rows)
    expected = values_of(read(path)[0])
    monkeypatch.setattr("seqlab.sources.views.time_series.MOST_KEPT", 5)
    actual = values_of(read(path, sequence="shop")[0])
    assert actual.keys() == expected.keys()
    assert all(same(actual[name]["targets"], expected[name]["targets"].ravel().tolist()) for name in expected)


def test_year_month_day_and_hour_in_columns_of_their_own(tmp_path: Path) -> None:
    rows = [f"{n + 1},2010,1,{30 + n // 24},{n % 24},{n}.5" for n in range(48)]
    source, _ = read(write(tmp_path, "a.csv", "No,year,month,day,hour,pm2.5", *rows))
    values = values_of(source)[""]
    assert (source.target_names, str(values["times"][25])) == (("pm2.5",), "2010-01-31T01:00:00")
    monthly, _ = read(
        write(
            tmp_path,
            "b.csv",
            "Year,Month,Sales",
            *(f"{2020 + n // 12},{n % 12 + 1},{n}.5" for n in range(30)),
        )
    )
    assert (monthly.frequency.months, str(values_of(monthly)[""]["times"][13])[:10]) == (1, "2021-02-01")


def test_a_series_without_any_target_is_left_out_and_named(tmp_path: Path) -> None:
    rows = [f"{day},{shop},{n if shop == 'a' else ''}" for n, day in enumerate(days(9)) for shop in "ab"]
    source, _ = read(write(tmp_path, "a.csv", "date,shop,sales", *rows))
    assert list(values_of(source)) == ["a"]
    assert any("1 series" in sentence and "'b'" in sentence for sentence in source.findings())


def test_conflicting_rows_are_counted_among_all_rows(tmp_path: Path) -> None:
    rows = [f"{170406720 + n // 4}0000,{n}" for n in range(16)]
    with pytest.raises(DataError, match="12 of 16 rows"):
        values_of(read(write(tmp_path, "a.csv", "timestamp,load", *rows))[0])


def test_a_fingerprint_is_short_and_depends_on_how_the_series_are_read(tmp_path: Path) -> None:
    path = write(tmp_path, "a.csv", "day,a,b", "2024-01-01,1,5", "2024-01-02,2,6", "2024-01-03,4,8")
    one, again, other = (read(path, target=target)[0].fingerprint() for target in ("a", "a", "b"))
    assert one == again
    assert one != other
    assert len(one) < 60
