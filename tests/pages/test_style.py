from __future__ import annotations

import re

import pytest

from seqlab.pages.style import DARK, LIGHT, style_sheet


def luminance(colour: str) -> float:
    """Relative luminance as the web's accessibility guidelines define it."""
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    red, green, blue = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    bright, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (bright + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("palette", [LIGHT, DARK], ids=["light", "dark"])
def test_text_and_lines_stand_out_from_their_ground(palette: dict[str, str]) -> None:
    for ground in ("ground", "panel"):
        for ink in ("ink", "quiet", "good", "bad"):
            assert contrast(palette[ink], palette[ground]) >= 4.5, (ink, ground)
        for line in ("c0", "c1", "c2", "c3", "c4", "c5", "c6"):
            assert contrast(palette[line], palette[ground]) >= 3, (line, ground)
    assert contrast(palette["ink"], palette["warn"]) >= 4.5
    assert contrast(palette["c4"], palette["panel"]) >= 4, (
        "the words 'it may be chance' are bold in this colour"
    )
    assert contrast(palette["strong"], palette["c0"]) >= 4.5, "counts on a full cell"


def test_both_palettes_name_the_same_colours_and_the_sheet_uses_no_other() -> None:
    assert LIGHT.keys() == DARK.keys()
    used = set(re.findall(r"var\(--([a-z0-9]+)", style_sheet()))
    assert used - LIGHT.keys() <= {"series", "share", "narrowest"}


def test_the_sheet_knows_dark_screens_phones_and_paper_and_cannot_end_its_own_element() -> None:
    sheet = style_sheet()
    for query in ("@media screen and (prefers-color-scheme: dark)", "@media print", "@media (max-width"):
        assert query in sheet
    assert "<" not in sheet
