"""The scores of a run and the baselines they have to beat: as text, as charts and as a table."""

from __future__ import annotations

import math
from collections.abc import Sequence

from seqlab.pages.charts.intervals import draw_interval_bar
from seqlab.pages.html import Markup, tag
from seqlab.pages.numbers import choose_decimals, format_difference, format_fixed
from seqlab.pages.report_data import ScoreLine

SIGNS = {"beats": "▲", "unsure": "≈", "loses": "▼", "none": ""}
OUTCOMES = {
    "clearly better": "beats",
    "better": "unsure",
    "equal": "unsure",
    "worse": "unsure",
    "clearly worse": "loses",
}


def outcome(score: ScoreLine) -> str:
    """`beats`, `unsure` (this data cannot tell), `loses` or `none` (nothing to compare with, or too little
    data).
    """
    return OUTCOMES.get(score.verdict, "none")


def verdict(score: ScoreLine) -> str:
    """The comparison as a sentence without its subject.

    >>> line = ScoreLine("test", "accuracy", 0.873, baseline=0.830, verdict="clearly better", comparison="clearly better than naive Bayes")
    >>> verdict(line)
    'clearly better than naive Bayes: by 0.043'
    """
    if not score.comparison:
        return "no baseline"
    gap = 0.0 if score.baseline is None else abs(score.value - score.baseline)
    if outcome(score) == "none" or not gap or not math.isfinite(gap):
        return score.comparison
    size = format_difference(gap, choose_decimals([score.value, score.baseline or 0.0]))
    return f"{score.comparison}: by {with_unit(size, score.unit)}"


def with_unit(number: str, unit: str) -> str:
    return f"{number} {unit}" if unit else number


def scores_section(scores: Sequence[ScoreLine]) -> Markup:
    narrowest = "400px" if len(scores) in (2, 4) else "290px"  # two by two rather than three and one
    cards = tag(
        "div", *[_card(score) for score in scores], class_="scoreboard", style=f"--narrowest: {narrowest}"
    )
    legend = tag(
        "p",
        "The dot is the score, the bar its 95% CI, and the vertical line the naive baseline; the shaded"
        " side is better.",
        class_="quiet",
    )
    return tag("div", cards, legend, _table(scores))


def _card(score: ScoreLine) -> Markup:
    result, words = outcome(score), verdict(score)
    value = format_fixed(score.value, _decimals(score))
    number = tag("span", value, class_="big") if len(value) < 9 else tag("span", value, class_="big long")
    unit = tag("span", " ", score.unit, class_="quiet") if score.unit else Markup("")
    sign = tag("span", SIGNS[result], " ", aria_hidden="true") if SIGNS[result] else Markup("")
    return tag(
        "div",
        tag(
            "div", tag("span", score.name), " ", tag("span", score.split, class_="chip"), class_="score-name"
        ),
        tag("div", number, unit),
        tag("div", score.note, class_="quiet small") if score.note else Markup(""),
        draw_interval_bar(score, verdict=words),
        tag("p", sign, words, class_=f"verdict {result}"),
        class_="score",
    )


def _decimals(score: ScoreLine) -> int:
    return choose_decimals(
        [value for value in (score.value, score.low, score.high, score.baseline) if value is not None]
    )


def _table(scores: Sequence[ScoreLine]) -> Markup:
    heads = ("split", "score", "value", "95% CI", "baseline", "difference", "details")
    numeric = {"value", "difference"}
    head = tag(
        "tr", *[tag("th", name, scope="col", class_="num" if name in numeric else None) for name in heads]
    )
    return tag(
        "div",
        tag("table", tag("thead", head), tag("tbody", *[_row(score) for score in scores])),
        class_="scroll",
    )


def _row(score: ScoreLine) -> Markup:
    decimals = _decimals(score)
    interval = (
        f"{format_fixed(score.low, decimals)} – {format_fixed(score.high, decimals)}"
        if score.low is not None and score.high is not None
        else "–"
    )
    baseline = (
        f"{format_fixed(score.baseline, decimals)} {score.baseline_name}".rstrip()
        if score.baseline is not None
        else "–"
    )
    gap = (
        "–"
        if outcome(score) == "none" or score.baseline is None
        else _signed(score.value - score.baseline, decimals)
    )
    better = "higher is better" if score.higher_is_better else "lower is better"
    return tag(
        "tr",
        tag("td", score.split),
        tag("th", score.name, tag("div", better, class_="quiet small"), scope="row"),
        tag("td", with_unit(format_fixed(score.value, decimals), score.unit), class_="num"),
        tag("td", interval, class_="keep"),
        tag("td", baseline),
        tag("td", gap, class_=f"num {outcome(score)}"),
        tag("td", score.method or "–", class_="quiet small how"),
    )


def _signed(gap: float, decimals: int) -> str:
    """
    >>> _signed(0.043, 3), _signed(-0.08, 2)
    ('+0.043', '−0.08')
    """
    return ("−" if gap < 0 else "+" if gap > 0 else "") + format_difference(abs(gap), decimals)
