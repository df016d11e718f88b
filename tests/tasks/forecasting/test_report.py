"""Report sections and tables of forecasts against plain arithmetic on the same arrays."""

from __future__ import annotations

import numpy as np
import pytest

from seqlab.pages.forecast_page import MAX_CHARTS, forecast_page
from seqlab.pages.sections.base import ReportSection
from seqlab.tasks.forecasting.forecast_table import COLUMNS, forecast_charts, forecast_rows
from seqlab.tasks.forecasting.report import (
    ScoredForecasts,
    examples_section,
    forecast_sections,
    methods_section,
    residuals_section,
    series_section,
    steps_section,
)
from seqlab.tasks.forecasting.scores import ForecastTruth

LEVELS = (0.025, 0.1, 0.5, 0.9, 0.975)
OFFSETS = np.array([-3.0, -1.0, 0.0, 1.0, 3.0])
DAYS = np.datetime64("2017-01-01T00:00:00") + np.arange(12) * np.timedelta64(86400, "s")
SERIES = [np.arange(12.0)[:, None], 100.0 + np.arange(12.0)[:, None]]
WINDOWS = np.array([[1, 8], [0, 9], [0, 10]])
TRUTH = np.stack([SERIES[number][origin : origin + 2] for number, origin in WINDOWS])  # (windows, 2, 1)
TRUTH[2, 1] = np.nan
MEDIAN = TRUTH + np.array([[0.5, 2.0], [0.0, -4.0], [-0.25, np.nan]])[..., None]
MEDIAN[2, 1] = 7.0
NAIVE = np.stack([np.repeat(SERIES[number][origin - 1 : origin], 2, axis=0) for number, origin in WINDOWS])
FORECASTS = ScoredForecasts(
    truth=ForecastTruth.of(TRUTH, np.array([[2.0], [1.0], [1.0]]), WINDOWS),
    windows=WINDOWS,
    quantiles=MEDIAN[..., None] + OFFSETS,
    levels=LEVELS,
    methods={"the last value": NAIVE, "exact": np.nan_to_num(TRUTH)},
    baseline="the last value",
    series=SERIES,
    names=["A", "B"],
    times=[DAYS, DAYS],
    targets=["load"],
)


def test_errors_and_coverage_by_step() -> None:
    section = steps_section(FORECASTS)
    errors = {line.name: line.values for line in section.errors}
    assert errors["network"] == pytest.approx([(0.5 + 0 + 0.25) / 3, (2 + 4) / 2])
    assert errors["the last value"] == pytest.approx([1.0, 2.0])
    assert errors["exact"] == [0.0, 0.0]
    coverage = {line.name: (line.values, line.nominal) for line in section.coverage}
    assert coverage == {"95% band": ([1.0, 0.5], 0.95), "80% band": ([1.0, 0.0], 0.8)}
    assert section.unit == "load"


def test_examples_have_history_truth_and_bands_of_their_window() -> None:
    charts = examples_section(FORECASTS).charts
    assert [chart.title for chart in charts] == [
        "B, load from 2017-01-09",
        "A, load from 2017-01-10",
        "A, load from 2017-01-11",
    ]
    assert charts[2].history == list(map(float, range(10)))
    assert charts[2].truth == [10.0, None]
    assert charts[2].times[-2:] == ["2017-01-11", "2017-01-12"]
    assert charts[0].median == [108.5, 111.0]
    assert [(band.share, band.low) for band in charts[0].bands] == [
        (0.95, [105.5, 108.0]),
        (0.8, [107.5, 110.0]),
    ]
    assert charts[0].baseline == [107.0, 107.0]


def test_series_are_ordered_by_their_error_in_units_of_their_scale() -> None:
    section = series_section(FORECASTS)
    assert [(line.name, line.forecasts) for line in section.worst] == [("A", 2), ("B", 1)]
    assert [line.network for line in section.worst] == pytest.approx([(0 + 4 + 0.25) / 3, (0.5 + 2) / 2 / 2])
    assert [line.baseline for line in section.worst] == pytest.approx([(1 + 2 + 1) / 3, (1 + 2) / 2 / 2])
    assert (section.num_series, section.better) == (2, 1)


def test_residuals_are_truth_minus_median_in_the_order_of_time() -> None:
    section = residuals_section(FORECASTS)
    assert section.times == ["2017-01-09", "2017-01-10", "2017-01-11"]
    assert section.values == pytest.approx([-0.5, 0.0, 0.25])
    assert sum(section.counts) == 5
    assert (section.edges[0], section.edges[-1]) == (-2.0, 4.0)


def test_the_table_has_every_method_and_leads_with_mase_for_several_series() -> None:
    section = methods_section(FORECASTS)
    assert [line.name for line in section.methods] == ["network", "the last value", "exact"]
    assert list(section.methods[0].scores) == ["MASE", "MAE", "RMSE", "sMAPE"]
    assert section.methods[1].scores["MAE"] == pytest.approx((1 + 2 + 1 + 2 + 1) / 5)
    assert section.methods[1].verdict == "too few blocks"


def test_many_items_get_a_verdict() -> None:
    count = 40
    windows = np.array([[0, 5 + 2 * number] for number in range(count)])
    truth = np.random.default_rng(0).normal(0, 1, (count, 2, 1))
    forecasts = ScoredForecasts(
        truth=ForecastTruth.of(truth, np.ones((count, 1)), windows),
        windows=windows,
        quantiles=(truth + 0.1)[..., None] + OFFSETS,
        levels=LEVELS,
        methods={"worse": truth + 0.5, "same": truth + 0.1, "better": truth},
        baseline="worse",
        series=[np.zeros((90, 1))],
        names=[""],
        times=[np.arange(90)],
        targets=["load"],
    )
    verdicts = {line.name: line.verdict for line in methods_section(forecasts).methods}
    assert verdicts == {"network": "", "worse": "clearly better", "same": "equal", "better": "clearly worse"}
    assert examples_section(forecasts).charts[0].title == "load from 5"
    assert residuals_section(forecasts).times[:2] == ["5", "7"]


def test_every_section_can_be_shown() -> None:
    sections: list[ReportSection] = forecast_sections(FORECASTS)
    assert [section.kind for section in sections if section.html() is None] == []
    assert {section.kind for section in sections} == {
        "forecast_methods",
        "forecasts",
        "forecast_steps",
        "forecast_series",
        "forecast_residuals",
    }


def test_rows_of_a_forecast_have_the_bounds_of_both_bands() -> None:
    quantiles = np.arange(20.0).reshape(2, 2, 5)
    rows = list(forecast_rows("A", ["2017-01-02", "2017-01-03"], ["load", "price"], quantiles, LEVELS))
    assert tuple(rows[0]) == COLUMNS
    assert [tuple(row.values()) for row in rows[1:3]] == [
        ("A", "2017-01-02", "price", 7.0, 6.0, 8.0, 5.0, 9.0),
        ("A", "2017-01-03", "load", 12.0, 11.0, 13.0, 10.0, 14.0),
    ]
    only = next(forecast_rows("", ["3"], ["load"], quantiles[:1, :1, 1:4], LEVELS[1:4]))
    assert only["lower_95"] is None
    assert only["lower_80"] == 1.0


def test_a_page_of_forecasts_shows_history_and_bands() -> None:
    times = [str(day)[:10] for day in DAYS]
    charts = forecast_charts(
        "A",
        times=times,
        history=np.arange(20.0).reshape(10, 2),
        targets=["load", "price"],
        quantiles=np.arange(20.0).reshape(2, 2, 5),
        levels=LEVELS,
    )
    assert [chart.title for chart in charts] == ["A, load", "A, price"]
    assert charts[1].history == [float(value) for value in range(1, 20, 2)]
    assert charts[1].median == [7.0, 17.0]
    assert charts[1].times == times
    page = forecast_page(charts, title="Load")
    assert "A, price" in page
    assert "The median forecast for 2017-01-12 is 17.00 price, with an 80% band from 16.00 to 18.00." in page
    assert f"first {MAX_CHARTS} of 202" in forecast_page(charts * 101, title="Load")
