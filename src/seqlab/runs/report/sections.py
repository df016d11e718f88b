"""What the details of a split have to show beyond scores, curves and mistakes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from seqlab.pages.charts.attention_map import AlignmentMap, draw_alignment
from seqlab.pages.charts.image_attention import Look, Spotlights, draw_spotlights
from seqlab.pages.charts.interval_rows import Reach
from seqlab.pages.charts.token_heatmap import Strip, TokenStrips, draw_token_strips
from seqlab.pages.html import Markup, tag
from seqlab.pages.page import Section
from seqlab.pages.sections.calibration import Calibration, Thresholds, calibration_section, thresholds_section
from seqlab.pages.sections.predicted_numbers import PredictedNumbers, numbers_section
from seqlab.pages.sections.slices import Cut, slices_section


def more_sections(details: dict[str, Any]) -> list[Section]:
    """The sections for which a task has left data, in the order of the page."""
    return list(_sections(details))


def _sections(details: dict[str, Any]) -> Iterator[Section]:
    if "numbers" in details:
        numbers = PredictedNumbers(**details["numbers"], reach=details.get("reach"), within_reach=details.get("within_reach"))
        yield Section("numbers", "Truth and prediction", numbers_section(numbers))
    if "calibration" in details:
        yield Section("calibration", "Can the probabilities be believed?", calibration_section(Calibration(**details["calibration"])))
    if "thresholds" in details:
        yield Section("thresholds", "Other thresholds", thresholds_section(Thresholds(**details["thresholds"])))
    if details.get("slices"):
        yield Section("slices", "Parts of the data", slices_section([_cut(cut, details) for cut in details["slices"]]))
    if details.get("translations"):
        yield Section("translations", "What it writes", _translations(details["translations"]))
    if details.get("looks"):
        yield Section("looks", "Where it looks", _looks(details["looks"]))
    if details.get("spotlights"):
        yield Section("spotlights", "Where it looks", _spotlights(details["spotlights"]))
    if details.get("strips"):
        yield Section("strips", "Where the queries look", _strips(details["strips"]))


def _cut(cut: dict[str, Any], details: dict[str, Any]) -> Cut:
    """One way to cut the data, beside the score on everything where the details have it."""
    parts = [Reach(part["name"], part["value"], part["low"], part["high"], note=f"({part['count']:,})") for part in cut["parts"]]
    return Cut(cut["by"], cut["score"], cut["unit"], parts, whole=details.get("whole", {}).get(cut["score"]))


def _translations(examples: list[dict[str, Any]]) -> Markup:
    rows = [tag("tr", *(tag("td", text) for text in (each["source"], each["written"], " | ".join(each["wanted"])))) for each in examples]
    head = tag("tr", *(tag("th", name) for name in ("read", "written", "wanted")))
    return tag("div", tag("table", tag("thead", head), tag("tbody", *rows)), class_="scroll")


def _looks(examples: list[dict[str, Any]]) -> Markup:
    hint = "Each row is a token that was written, each column one that was read: the darker, the more was looked there."
    maps = [
        draw_alignment(AlignmentMap("".join(each["written"][:-1])[:60], each["written"], each["read"], each["weights"]), ident=f"look-{number}")
        for number, each in enumerate(examples, start=1)
    ]
    return tag("div", tag("p", hint, class_="quiet"), *[tag("div", picture, class_="scroll") for picture in maps])


def _spotlights(examples: list[dict[str, Any]]) -> Markup:
    hint = "The picture once for every word that was written: the brighter a region, the more was looked at it."
    drawn = [
        draw_spotlights(Spotlights(each["title"], each["pixels"], [Look(**look) for look in each["looks"]], columns=8), ident=f"spotlight-{number}")
        for number, each in enumerate(examples, start=1)
    ]
    return tag("div", tag("p", hint, class_="quiet"), *[tag("div", picture, class_="scroll") for picture in drawn])


def _strips(examples: list[dict[str, Any]]) -> Markup:
    hint = "Each learned query looks at some tokens and not at others: the darker a token, the more of it is in what the query found."
    pictures = [
        draw_token_strips(
            TokenStrips(each["title"], each["tokens"], [Strip(**strip) for strip in each["strips"]]), ident=f"strip-{number}", width=1000.0
        )
        for number, each in enumerate(examples, start=1)
    ]
    return tag("div", tag("p", hint, class_="quiet"), *[tag("div", picture, class_="scroll") for picture in pictures])
