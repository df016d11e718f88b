"""One score as SVG: its interval, its baseline, and the better side of the baseline."""

from __future__ import annotations

from seqlab.pages.charts.confusion_matrix import abbreviate
from seqlab.pages.charts.line_chart import Axis
from seqlab.pages.charts.ticks import is_drawable, widen_range
from seqlab.pages.html import Markup, tag
from seqlab.pages.numbers import choose_decimals, format_fixed
from seqlab.pages.report_data import ScoreLine

WIDTH, HEIGHT = 340.0, 58.0
EDGE = 10.0
CHARACTER_WIDTH = 6.8
TRACK = 28.0


def draw_interval_bar(score: ScoreLine, *, verdict: str) -> Markup:
    """A dot on its interval; the shaded side of the baseline mark is the better one."""
    values = [
        value
        for value in (score.value, score.low, score.high, score.baseline)
        if value is not None and is_drawable(value)
    ]
    if not is_drawable(score.value) or len(values) < 2:
        return Markup("")  # a single dot shows nothing
    axis = padded_axis(values)
    decimals = choose_decimals(values)
    return tag(
        "svg",
        tag("title", f"{score.split} {score.name}: {verdict}"),
        *_baseline(score, axis, decimals),
        tag("line", x1=EDGE, x2=WIDTH - EDGE, y1=TRACK, y2=TRACK, class_="track"),
        _interval(score, axis),
        tag("circle", cx=axis.to_pixel(score.value), cy=TRACK, r=5.0, class_="value"),
        _label(format_fixed(score.value, decimals), axis.to_pixel(score.value), TRACK - 12, "strong-label"),
        class_="interval",
        viewBox=f"0 0 {WIDTH:g} {HEIGHT:g}",
        role="img",
    )


def padded_axis(values: list[float]) -> Axis:
    """An axis that covers all values with some margin."""
    low, high = widen_range(float(min(values)), float(max(values)))
    padding = 0.14 * (high - low)
    return Axis(low - padding, high + padding, EDGE, WIDTH - EDGE)


def _baseline(score: ScoreLine, axis: Axis, decimals: int) -> list[Markup]:
    if score.baseline is None or not is_drawable(score.baseline):
        return []
    x = axis.to_pixel(score.baseline)
    left, right = (x, axis.end) if score.higher_is_better else (axis.start, x)
    return [
        tag("rect", x=left, y=TRACK - 9, width=right - left, height=18.0, rx=3.0, class_="better"),
        tag("line", x1=x, x2=x, y1=TRACK - 11, y2=TRACK + 11, class_="baseline"),
        _label(
            _baseline_text(score.baseline_name or "baseline", format_fixed(score.baseline, decimals)),
            x,
            TRACK + 25,
            "quiet-label",
        ),
    ]


def _baseline_text(name: str, value: str) -> str:
    """The name and the value; a name that is too long for the figure is shortened."""
    return f"{abbreviate(name, int(WIDTH / CHARACTER_WIDTH) - len(value) - 1)} {value}"


def _interval(score: ScoreLine, axis: Axis) -> Markup:
    if score.low is None or score.high is None or not (is_drawable(score.low) and is_drawable(score.high)):
        return Markup("")
    left, right = axis.to_pixel(score.low), axis.to_pixel(score.high)
    return tag(
        "rect", x=left, y=TRACK - 3.5, width=max(right - left, 1.0), height=7.0, rx=3.5, class_="reach"
    )


def _label(text: str, x: float, y: float, style: str) -> Markup:
    """Centered below or above its mark, and moved as far as it must be to stay inside the figure."""
    half_width = min(CHARACTER_WIDTH * len(text) / 2, WIDTH / 2)
    x = min(max(x, half_width), WIDTH - half_width)
    return tag("text", text, x=x, y=y, text_anchor="middle", class_=style)
