from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from dataclasses import replace

import pytest

from seqlab.pages.report import render_report
from seqlab.pages.report_data import (
    ClassLine,
    GeneratedSample,
    LineChart,
    LineSeries,
    ReferenceLine,
    Report,
    ScoreLine,
    VerticalMarker,
    WrongExample,
)
from seqlab.pages.sections.classes import ConfusionMatrix, PerClassScores
from seqlab.pages.sections.examples import WorstMistakes
from tests.pages.reading import Page, pictures

HOSTILE = (
    '<script>alert(1)</script>"><img src=x'
    " onerror=alert(2)>'--></style></title>\x1b[31m\u202e\x00\ud800{{7*7}}"
)
SHOWN = (
    '<script>alert(1)</script>"><img src=x'
    " onerror=alert(2)>'--></style></title>‹ESC›[31m‹U+202E›‹NUL›‹U+D800›{{7*7}}"
)


def full_report(word: str) -> Report:
    """A report in which every text is the given one."""
    return Report(
        title=word,
        subtitle=word,
        created=word,
        summary=[(word, word)],
        scores=[ScoreLine(word, word, 0.8, 0.7, 0.9, 0.6, word, unit=word, method=word)],
        curves=[
            LineChart(
                word,
                word,
                word,
                [LineSeries(word, [1, 2], [3.0, 1.0])],
                marks=[VerticalMarker(word, 2)],
                references=[ReferenceLine(word, 2.0)],
            )
        ],
        sections=[
            WorstMistakes([WrongExample(word, word, word, word, 0.9, 0.05)]),
            PerClassScores([ClassLine(word, 0.9, 0.8, 0.85, 10)]),
            ConfusionMatrix([word, "b" + word], [[3, 1], [0, 2]]),
        ],
        samples=[GeneratedSample(10, word, word, 2.5)],
        warnings=[word],
        recipe=f"# {word}\n[{word}]\nkey = 1",
        next_commands=[word],
    )


def test_a_full_report_is_well_formed_and_has_every_section_in_its_contents() -> None:
    page = Page(render_report(full_report("word")))
    links = [value for value in page.values("href") if value.startswith("#")]
    sections = [attributes["id"] for tag, attributes in page.tags if tag == "section"]
    assert links == [f"#{ident}" for ident in sections]
    assert sections == [
        "scores",
        "facts",
        "curves",
        "samples",
        "confusion",
        "per-class",
        "most-wrong",
        "recipe",
        "next",
    ]
    assert len(page.values("id")) == len(set(page.values("id")))
    assert "1 warning" in page.text


def test_hostile_text_stays_text_in_every_place_it_can_come_from() -> None:
    html = render_report(full_report(HOSTILE))
    page = Page(html)
    assert page.names() & {"script", "img", "iframe", "object", "link", "base", "form"} == set()
    assert not any(name.startswith("on") for _, attributes in page.tags for name in attributes)
    assert page.text.count(SHOWN) >= 20
    html.encode("utf-8")
    assert not re.search("[\x00-\x08\x0b-\x1f\u202e]", html)


def test_the_page_fetches_nothing_and_says_so_to_the_browser() -> None:
    page = Page(render_report(full_report("word")))
    policies = [
        attributes["content"]
        for tag, attributes in page.tags
        if attributes.get("http-equiv") == "Content-Security-Policy"
    ]
    assert len(policies) == 1
    assert policies[0].startswith("default-src 'none'; style-src 'unsafe-inline'; img-src data:")
    assert page.values("src") == []
    assert all(value.startswith("#") for value in page.values("href"))
    assert not re.search(r"https?:|url\(|@import", render_report(full_report("word")))


def test_the_policy_stands_before_anything_it_must_govern() -> None:
    page = Page(render_report(full_report("word")))
    assert [tag for tag, _ in page.tags[:4]] == ["html", "head", "meta", "meta"]
    assert page.tags[2][1] == {"charset": "utf-8"}


@pytest.mark.parametrize("word", ["word", HOSTILE])
def test_every_picture_is_valid_xml(word: str) -> None:
    found = pictures(render_report(full_report(word)))
    assert len(found) >= 4
    for picture in found:
        ET.fromstring(picture.encode("utf-8"))


def test_an_empty_report_is_a_title_and_nothing_else() -> None:
    page = Page(render_report(Report("Only a title")))
    assert page.names() & {"section", "nav", "aside", "svg", "table"} == set()
    assert "Only a title" in page.text


@pytest.mark.parametrize(
    ("field", "ident"),
    [
        ("scores", "scores"),
        ("summary", "facts"),
        ("curves", "curves"),
        ("sections", "confusion"),
        ("sections", "per-class"),
        ("sections", "most-wrong"),
        ("samples", "samples"),
        ("recipe", "recipe"),
        ("next_commands", "next"),
    ],
)
def test_a_part_without_content_has_no_section(field: str, ident: str) -> None:
    full = full_report("word")
    empty = replace(full, **{field: "" if field == "recipe" else []})
    assert ident in Page(render_report(full)).values("id")
    assert ident not in Page(render_report(empty)).values("id")


def test_a_megabyte_in_every_text_gives_a_small_page_that_says_so() -> None:
    html = render_report(full_report("x" * 1_048_576))
    assert len(html) < 500_000
    assert Page(html).text.count("of 1,048,576 characters)") >= 10


def test_long_lists_are_cut_with_a_note() -> None:
    wrong = [WrongExample("f, line 1", "t", "a", "b", 0.9, 0.1)] * 1000
    classes = [ClassLine(f"label {i}", 0.5, 0.5, 0.5, 1) for i in range(1000)]
    page = Page(render_report(Report("many", sections=[WorstMistakes(wrong), PerClassScores(classes)])))
    assert "first 100 of 1,000" in page.text
    assert "first 200 of 1,000" in page.text


def test_mistakes_show_where_what_and_how_sure() -> None:
    example = WrongExample("test.csv, line 12", "not bad at all", "positive", "negative", 0.9876, 0.0124)
    text = Page(render_report(Report("t", sections=[WorstMistakes([example])]))).text
    assert "not bad at all" in text
    assert "predicted negative 0.988" in text
    assert "truth positive 0.012" in text
    assert "test.csv, line 12" in text


def test_the_surest_mistake_comes_first() -> None:
    wrong = [
        WrongExample("f", text, "a", "b", sure, 0.1)
        for text, sure in (("fairly", 0.7), ("very", 0.99), ("hardly", 0.51))
    ]
    text = Page(render_report(Report("t", sections=[WorstMistakes(wrong)]))).text
    assert text.index("0.990") < text.index("0.700") < text.index("0.510")


def test_samples_of_several_stages_stand_in_order_with_step_loss_and_prompt() -> None:
    samples = [
        GeneratedSample(0, "ROMEO:\n", "qx;Lv", 4.17),
        GeneratedSample(500, "ROMEO:\n", "the the", None),
        GeneratedSample(2000, "", "\nWhat say", 1.71),
    ]
    html = render_report(Report("t", samples=samples))
    text = Page(html).text
    places = [
        text.index(words)
        for words in (
            "step 0",
            "valid loss 4.170",
            "qx;Lv",
            "step 500",
            "the the",
            "step 2,000",
            "\nWhat say",
        )
    ]
    assert places == sorted(places)
    assert html.count('<span class="prompt">ROMEO:\n</span>') == 2


def test_the_weakest_label_comes_first() -> None:
    lines = [
        ClassLine("strong", 0.9, 0.9, 0.9, 5),
        ClassLine("weak", 0.2, 0.3, 0.24, 5),
        ClassLine("fair", 0.6, 0.6, 0.6, 5),
    ]
    text = Page(render_report(Report("t", sections=[PerClassScores(lines)]))).text
    assert text.index("weak") < text.index("fair") < text.index("strong")
    assert "0.240" in text


def test_the_recipe_is_shown_whole_and_letter_for_letter() -> None:
    recipe = "# a < b & c\ntask = \"x\"\n\n[data]\ntrain = 'a.csv'\n" + "\n".join(
        f"k{i} = {i}" for i in range(3000)
    )
    assert recipe in Page(render_report(Report("t", recipe=recipe))).text


def test_right_to_left_names_cannot_reorder_their_neighbours() -> None:
    html = render_report(
        Report("t", sections=[WorstMistakes([WrongExample("f", "שלום", "עברית", "عربي", 0.9, 0.1)])])
    )
    assert "<bdi>עברית</bdi>" in html
    assert "<bdi>عربي</bdi>" in html
