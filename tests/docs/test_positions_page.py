"""The page about positions: every kind has its line, and every example has its output below it."""

from __future__ import annotations

from pathlib import Path

import pytest

from seqlab.pages.charts.diagram import render_svg
from seqlab.pages.charts.position_curves import position_curves
from seqlab.positions.base import positional_encodings
from seqlab.positions.sinusoidal import sinusoid_curves
from tests.check_each import check_each
from tests.docs.story import every_example_has_its_output

DOCS = Path(__file__).parents[2] / "docs"
PATH = DOCS / "concepts" / "positions.md"
PAGE = PATH.read_text(encoding="utf-8")


def test_every_example_has_its_output_below_it() -> None:
    every_example_has_its_output(PATH)


def test_every_kind_has_a_line_with_its_file() -> None:
    check_each(positional_encodings.names(), kind_has_a_line)


def kind_has_a_line(kind: str) -> None:
    assert f"| {kind} | " in PAGE
    assert f"`{kind}.py`" in PAGE


@pytest.mark.spec(152)
def test_the_picture_is_what_the_code_draws() -> None:
    drawn = render_svg(position_curves(sinusoid_curves([4, 5, 6, 7], size=20, num_positions=100)))
    assert (DOCS / "pictures" / "positions.svg").read_text(encoding="utf-8") == drawn, (
        "run: python docs/pictures.py"
    )
    assert "pictures/positions.svg" in PAGE
