from __future__ import annotations

import xml.etree.ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seqlab.pages.html import (
    MAX_ATTRIBUTE_CHARACTERS,
    MAX_TEXT_CHARACTERS,
    Markup,
    join,
    make_visible,
    tag,
    text,
)


@pytest.mark.parametrize(
    "hostile",
    [
        "<script>alert(1)</script>",
        '"><img src=x onerror=alert(1)>',
        "&amp;",
        "'; drop",
        "</style>",
        "<!--",
        "]]>",
    ],
)
def test_hostile_text_reads_back_as_itself(hostile: str) -> None:
    element = ET.fromstring(tag("p", hostile, title=hostile))
    assert (element.text, element.get("title"), len(element)) == (hostile, hostile, 0)


@given(st.text(st.characters(codec=None, exclude_categories=()), max_size=40))
def test_any_text_becomes_one_well_formed_element_that_can_be_written(anything: str) -> None:
    made = tag("p", anything, title=anything)
    element = ET.fromstring(made.encode("utf-8"))
    assert len(element) == 0
    assert (element.text or "") == make_visible(anything)


def test_hidden_characters_get_a_shape() -> None:
    assert make_visible("a\x00b\x1b[31mc\rd\x7fe\x85") == "a‹NUL›b‹ESC›[31mc‹CR›d‹U+007F›e‹U+0085›"
    assert (
        make_visible("abc\u202ecod.exe\u2066\u200f\ufeff\u200b")
        == "abc‹U+202E›cod.exe‹U+2066›‹U+200F›‹U+FEFF›‹U+200B›"
    )
    assert make_visible("\ud83d alone") == "‹U+D83D› alone"


def test_ordinary_writing_is_left_alone() -> None:
    for words in (
        "tab\tand\nline",
        "naïve Zoë Straße",
        "می‌خواهم",
        "👩‍👩‍👧",
        "日本語",
        "عبد الرحمن",
        "e\u0301",
    ):
        assert make_visible(words) == words


def test_a_megabyte_is_cut_with_a_note() -> None:
    made = text("x" * 1_048_576)
    assert made == "x" * MAX_TEXT_CHARACTERS + " … (first 4,000 of 1,048,576 characters)"
    assert len(tag("p", title="y" * 1_048_576)) < MAX_ATTRIBUTE_CHARACTERS + 100


def test_what_was_escaped_is_not_escaped_again() -> None:
    assert tag("p", tag("b", "1 < 2")) == "<p><b>1 &lt; 2</b></p>"


def test_gluing_markup_by_hand_shows_the_mistake_instead_of_opening_a_hole() -> None:
    bold = tag("b", "x")
    assert not isinstance(bold + "<script>", Markup)
    assert tag("p", f"{bold}<script>") == "<p>&lt;b&gt;x&lt;/b&gt;&lt;script&gt;</p>"


def test_attributes_are_named_and_left_out_as_promised() -> None:
    assert (
        tag("path", class_="line", stroke_width=1.5, hidden=True, id=None, open=False)
        == '<path class="line" stroke-width="1.5" hidden=""></path>'
    )
    assert tag("meta", charset="utf-8") == '<meta charset="utf-8">'


def test_join_escapes_parts_and_separator() -> None:
    assert join(["a<b", tag("i", "c")], " & ") == "a&lt;b &amp; <i>c</i>"
