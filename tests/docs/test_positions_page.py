"""The page about positions: every kind has its line, and every example prints what stands below it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from seqlab.pages.charts.diagram import render_svg
from seqlab.pages.charts.position_curves import position_curves
from seqlab.positions.base import positional_encodings
from seqlab.positions.sinusoidal import sinusoid_curves

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "rooms" / "positions.md").read_text(encoding="utf-8")
EXAMPLE = re.compile(r"```python\n(.*?)```\n\n```text\n(.*?)```\n", re.DOTALL)


def test_every_example_prints_what_stands_below_it(capsys: pytest.CaptureFixture[str]) -> None:
    examples = EXAMPLE.findall(PAGE)
    assert len(examples) == PAGE.count("```python") == 2
    for code, printed in examples:
        exec(compile(code, "positions.md", "exec"), {})
        assert capsys.readouterr().out == printed


@pytest.mark.parametrize("kind", positional_encodings.names())
def test_every_kind_has_a_line_with_its_file(kind: str) -> None:
    assert f"| {kind} | " in PAGE
    assert f"`{kind}.py`" in PAGE


@pytest.mark.spec(152)
def test_the_picture_is_what_the_code_draws() -> None:
    drawn = render_svg(position_curves(sinusoid_curves([4, 5, 6, 7], size=20, num_positions=100)))
    assert (DOCS / "pictures" / "positions.svg").read_text(encoding="utf-8") == drawn, (
        "run: python docs/pictures.py"
    )
    assert "pictures/positions.svg" in PAGE
