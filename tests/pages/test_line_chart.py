from __future__ import annotations

import math
import random
import re
import xml.etree.ElementTree as ET
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seqlab.pages.charts.downsample import downsample
from seqlab.pages.charts.line_chart import (
    BOTTOM,
    HEIGHT,
    RIGHT,
    TOP,
    WIDTH,
    describe_line_chart,
    draw_line_chart,
    left_margin,
)
from seqlab.pages.report_data import LineChart, LineSeries, ReferenceLine, VerticalMarker

NAN, INF = math.nan, math.inf


def draw(
    *series: LineSeries,
    log_y: bool = False,
    marks: tuple[VerticalMarker, ...] = (),
    references: tuple[ReferenceLine, ...] = (),
) -> ET.Element:
    """The figure of a curve, read as XML."""
    return ET.fromstring(
        draw_line_chart(LineChart("Loss", "step", "nats", series, log_y, marks, references), ident="c")
    )


def lines(figure: ET.Element) -> list[list[list[tuple[float, float]]]]:
    """Per series the runs of pixels of its path."""
    paths = [path.get("d") or "" for path in figure.findall("./svg[@class='chart']/g/path")]
    return [
        [
            [(float(x), float(y)) for x, y in re.findall(r"([\d.e+-]+) ([\d.e+-]+)", run)]
            for run in path.split("M")[1:]
        ]
        for path in paths
    ]


def test_a_known_point_lands_on_its_pixel() -> None:
    figure = draw(LineSeries("a", [0, 4, 10], [0.0, 2.5, 10.0]))
    left, right, bottom = left_margin(["10"]), WIDTH - RIGHT, HEIGHT - BOTTOM
    ((run,),) = lines(figure)
    assert run[0] == pytest.approx((left, bottom))
    assert run[1] == pytest.approx((left + 0.4 * (right - left), bottom - 0.25 * (bottom - TOP)), abs=0.01)
    assert run[2] == pytest.approx((right, TOP))


def test_a_log_axis_gives_every_decade_the_same_height() -> None:
    figure = draw(LineSeries("a", [0, 1, 2, 3], [0.01, 1.0, 100.0, 10_000.0]), log_y=True)
    ((run,),) = lines(figure)
    steps = [before[1] - after[1] for before, after in pairwise(run)]
    assert steps == pytest.approx([steps[0]] * 3, abs=0.02)
    assert steps[0] > 50
    assert "nats, log scale" in "".join(figure.itertext())


def test_tick_labels_stand_beside_their_grid_lines() -> None:
    figure = draw(LineSeries("a", [0, 10], [0.0, 10.0]))
    grid = [float(line.get("y1") or "") for line in figure.iter("line") if line.get("class") == "grid"]
    labels = [
        (text.text, float(text.get("y") or ""))
        for text in figure.iter("text")
        if text.get("text-anchor") == "end" and text.get("class") is None
    ]
    bottom = HEIGHT - BOTTOM
    for value, y in ((0, bottom), (2, bottom - 0.2 * (bottom - TOP)), (10, TOP)):
        assert any(line == pytest.approx(y, abs=0.01) for line in grid)
        assert (str(value), pytest.approx(y + 4, abs=0.01)) in labels


@pytest.mark.parametrize("log_y", [False, True])
@pytest.mark.parametrize(
    ("xs", "ys"),
    [
        ([], []),
        ([3], [0.7]),
        ([0], [0.0]),
        ([1, 2, 3], [5.0, 5.0, 5.0]),
        ([1, 2], [NAN, INF]),
        ([NAN, 2, 3], [1.0, NAN, -INF]),
        ([1, 1, 1], [1.0, 2.0, 3.0]),
        ([1, 2], [-1.0, -2.0]),
        ([1, 2], [1e308, -1e308]),
        ([1, 2], [5e-324, 1e-320]),
        ([3, 1, 2], [1.0, 2.0, 3.0]),
    ],
)
def test_odd_series_are_drawn_without_a_crash_or_a_bad_number(
    xs: list[float], ys: list[float], log_y: bool
) -> None:
    made = draw_line_chart(LineChart("t", "x", "y", [LineSeries("odd", xs, ys)], log_y), ident="c")
    figure = ET.fromstring(made)
    for element in figure.iter():
        for name in ("d", "x", "y", "x1", "x2", "y1", "y2", "cx", "cy"):
            assert not re.search(r"nan|inf", element.get(name) or "")


@pytest.mark.slow
@given(st.lists(st.tuples(st.floats(), st.floats()), max_size=12), st.booleans(), st.floats(), st.floats())
def test_everything_stays_inside_the_picture(
    points: list[tuple[float, float]], log_y: bool, mark: float, reference: float
) -> None:
    series = LineSeries("s", [x for x, _ in points], [y for _, y in points])
    figure = draw(
        series, log_y=log_y, marks=(VerticalMarker("m", mark),), references=(ReferenceLine("r", reference),)
    )
    for run in lines(figure)[0]:
        assert all(0 <= x <= WIDTH + 0.01 and TOP - 0.01 <= y <= HEIGHT - BOTTOM + 0.01 for x, y in run)
    for line in figure.iter("line"):
        assert all(0 <= float(line.get(name) or "") <= WIDTH for name in ("x1", "x2", "y1", "y2"))


def test_a_gap_breaks_the_line_and_is_counted() -> None:
    figure = draw(LineSeries("a", range(7), [1.0, 2.0, NAN, 2.0, INF, 1.0, 2.0]))
    (runs,) = lines(figure)
    assert [len(run) for run in runs] == [2, 1, 2]
    assert "2 points are not finite" in "".join(figure.itertext())


def test_a_point_alone_between_gaps_is_a_dot_even_in_a_long_series() -> None:
    ys = [1.0] * 50 + [NAN, 2.0, NAN] + [1.0] * 50
    figure = draw(LineSeries("a", range(len(ys)), ys))
    (dot,) = figure.findall("./svg[@class='chart']/g/circle")
    assert float(dot.get("cy") or "") == pytest.approx(TOP)


@pytest.mark.slow
def test_thousands_of_points_keep_every_peak_and_few_points() -> None:
    noise = random.Random(1)
    ys = [math.sin(i / 300) + noise.gauss(0, 0.05) for i in range(6000)]
    ys[4321] = 4.0
    ys[777] = -3.0
    figure = draw(LineSeries("a", range(len(ys)), ys))
    ((run,),) = lines(figure)
    assert len(run) < 4 * WIDTH
    left, right = left_margin(["-4"]), WIDTH - RIGHT
    highest, lowest = min(run, key=lambda point: point[1]), max(run, key=lambda point: point[1])
    assert highest == pytest.approx((left + 4321 / 5999 * (right - left), TOP), abs=0.5)
    assert lowest[0] == pytest.approx(left + 777 / 5999 * (right - left), abs=0.5)


@given(st.lists(st.tuples(st.floats(0, 20), st.floats(-100, 100)), min_size=1, max_size=200))
def test_thinning_covers_the_same_height_in_every_pixel_column(points: list[tuple[float, float]]) -> None:
    points.sort(key=lambda point: point[0])
    kept = downsample(points)
    assert kept[0] == points[0]
    assert kept[-1] == points[-1]
    for column in range(21):
        before, after = ([y for x, y in some if int(x) == column] for some in (points, kept))
        assert len(after) <= 4
        assert (min(before, default=0), max(before, default=0)) == (
            min(after, default=0),
            max(after, default=0),
        )


def test_points_out_of_order_are_drawn_from_left_to_right() -> None:
    ((run,),) = lines(draw(LineSeries("a", [3, 1, 2], [1.0, 2.0, 3.0])))
    assert [x for x, _ in run] == sorted(x for x, _ in run)


def test_marks_and_references_are_drawn_at_their_values_with_their_names() -> None:
    figure = draw(
        LineSeries("a", [0, 100], [0.0, 10.0]),
        marks=(VerticalMarker("best step 25", 25),),
        references=(ReferenceLine("bigram", 4.0),),
    )
    left, right, bottom = left_margin(["10"]), WIDTH - RIGHT, HEIGHT - BOTTOM
    (mark,) = [line for line in figure.iter("line") if line.get("class") == "mark"]
    (reference,) = [line for line in figure.iter("line") if line.get("class") == "reference"]
    assert float(mark.get("x1") or "") == pytest.approx(left + 0.25 * (right - left), abs=0.01)
    assert float(reference.get("y1") or "") == pytest.approx(bottom - 0.4 * (bottom - TOP), abs=0.01)
    words = [text.text for text in figure.iter("text")]
    assert "best step 25" in words
    assert "bigram 4.000" in words


def test_the_label_of_a_reference_avoids_the_curve() -> None:
    zigzag = [5.2 if i % 2 else 4.8 for i in range(50)]
    for ys, free_end in (([0.0] * 50 + zigzag, "start"), (zigzag + [10.0] * 50, "end")):
        figure = draw(LineSeries("a", range(100), ys), references=(ReferenceLine("base", 5.0),))
        (label,) = [text for text in figure.iter("text") if (text.text or "").startswith("base")]
        assert label.get("text-anchor") == free_end


def test_labels_of_equal_references_do_not_cover_each_other() -> None:
    figure = draw(
        LineSeries("a", [0, 1], [0.0, 10.0]), references=tuple(ReferenceLine(f"r{i}", 5.0) for i in range(4))
    )
    places = {(text.get("x"), text.get("y")) for text in figure.iter("text") if text.get("class") == "halo"}
    assert len(places) == 4


def test_more_series_than_colours_differ_by_their_dashes() -> None:
    figure = draw(*[LineSeries(f"s{i}", [0, 1], [i, i]) for i in range(15)])
    groups = figure.findall("./svg[@class='chart']/g[@style]")
    looks = {(group.get("style"), group[0].get("stroke-dasharray")) for group in groups}
    assert len(looks) == 15


def test_the_picture_has_a_title_and_a_description_that_are_pointed_at() -> None:
    figure = draw(LineSeries("valid", [0, 10], [2.0, 1.0]))
    (picture,) = figure.findall("./svg[@class='chart']")
    assert picture.get("aria-labelledby") == "c-title c-desc"
    assert [picture.findtext("title"), picture.findtext("desc")] == [
        "Loss",
        describe_line_chart(LineChart("", "step", "", [LineSeries("valid", [0, 10], [2.0, 1.0])])),
    ]


def test_a_series_of_unequal_lengths_is_refused() -> None:
    with pytest.raises(ValueError, match="'loss' has 2 xs and 1 ys"):
        LineSeries("loss", [1, 2], [1.0])


def x_tick_labels(chart: LineChart) -> list[str]:
    """The labels below the horizontal axis."""
    svg = ET.fromstring(draw_line_chart(chart, ident="c"))
    return [label.text or "" for label in svg.iter("text") if label.get("y") == f"{HEIGHT - BOTTOM + 18:g}"]


@pytest.mark.parametrize(
    ("steps", "labels"),
    [([1], ["0", "1", "2"]), ([1, 2], ["1", "2"]), ([1, 2, 3], ["1", "2", "3"]), ([40], ["39", "40", "41"])],
)
def test_an_axis_of_whole_steps_has_no_fractions(steps: list[int], labels: list[str]) -> None:
    assert (
        x_tick_labels(LineChart("Loss", "step", "nats", [LineSeries("train", steps, [1.0] * len(steps))]))
        == labels
    )


def test_an_axis_of_shares_keeps_its_fractions() -> None:
    chart = LineChart("ECE", "confidence", "accuracy", [LineSeries("test", [0.0, 0.5, 1.0], [0.0, 0.4, 0.9])])
    assert x_tick_labels(chart) == ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]


def test_a_log_axis_spreads_powers_of_ten_evenly() -> None:
    series = LineSeries("loss", [1e-4, 1e-3, 1e-2, 1e-1, 0.0], [1.0, 0.8, 0.5, 2.0, 3.0])
    svg = ET.fromstring(draw_line_chart(LineChart("LR", "rate", "loss", [series], log_x=True), ident="c"))
    places = [float(dot.attrib["cx"]) for dot in svg.iter("circle")]
    assert len(places) == 4  # a rate of 0 has no place
    gaps = [after - before for before, after in pairwise(places)]
    assert gaps == pytest.approx([gaps[0]] * 3, abs=0.02)  # two digits of a pixel
    assert "1 point is" in "".join(svg.itertext())
