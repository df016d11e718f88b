"""One score as a picture: its interval, its baseline, and the side of the baseline that is better."""

from __future__ import annotations

from seqlab.pages.charts.line_chart import Axis
from seqlab.pages.charts.ticks import drawable, widen
from seqlab.pages.html import Markup, tag
from seqlab.pages.numbers import decimals_for, fixed
from seqlab.pages.report_data import ScoreLine

WIDTH, HEIGHT = 340.0, 58.0
EDGE = 10.0
TRACK = 28.0


def interval_bar(score: ScoreLine, *, verdict: str) -> Markup:
    """A dot on its interval; the shaded side of the baseline mark is the better one."""
    present = [value for value in (score.value, score.low, score.high, score.baseline) if value is not None and drawable(value)]
    if not drawable(score.value) or len(present) < 2:
        return Markup("")  # a dot alone shows nothing
    axis = scale(present)
    decimals = decimals_for(present)
    return tag(
        "svg",
        tag("title", f"{score.split} {score.name}: {verdict}"),
        *_baseline(score, axis, decimals),
        tag("line", x1=EDGE, x2=WIDTH - EDGE, y1=TRACK, y2=TRACK, class_="track"),
        _interval(score, axis),
        tag("circle", cx=axis.place(score.value), cy=TRACK, r=5.0, class_="value"),
        _label(fixed(score.value, decimals), axis.place(score.value), TRACK - 12, "strong-label"),
        class_="interval",
        viewBox=f"0 0 {WIDTH:g} {HEIGHT:g}",
        role="img",
    )


def scale(values: list[float]) -> Axis:
    """An axis that holds all values with some air at both ends."""
    low, high = widen(float(min(values)), float(max(values)))
    air = 0.14 * (high - low)
    return Axis(low - air, high + air, EDGE, WIDTH - EDGE)


def _baseline(score: ScoreLine, axis: Axis, decimals: int) -> list[Markup]:
    if score.baseline is None or not drawable(score.baseline):
        return []
    x = axis.place(score.baseline)
    left, right = (x, axis.end) if score.higher_is_better else (axis.start, x)
    return [
        tag("rect", x=left, y=TRACK - 9, width=right - left, height=18.0, rx=3.0, class_="better"),
        tag("line", x1=x, x2=x, y1=TRACK - 11, y2=TRACK + 11, class_="baseline"),
        _label(f"{score.baseline_name or 'baseline'} {fixed(score.baseline, decimals)}", x, TRACK + 25, "quiet-label"),
    ]


def _interval(score: ScoreLine, axis: Axis) -> Markup:
    if score.low is None or score.high is None or not (drawable(score.low) and drawable(score.high)):
        return Markup("")
    left, right = axis.place(score.low), axis.place(score.high)
    return tag("rect", x=left, y=TRACK - 3.5, width=max(right - left, 1.0), height=7.0, rx=3.5, class_="reach")


def _label(words: str, x: float, y: float, style: str) -> Markup:
    """Centred where there is room, else flush with the edge that is near."""
    room = 3.4 * len(words)
    anchor = "start" if x < room else "end" if x > WIDTH - room else "middle"
    x = EDGE if anchor == "start" and x < EDGE else x
    return tag("text", words, x=x, y=y, text_anchor=anchor, class_=style)
