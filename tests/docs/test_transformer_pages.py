"""The examples on the pages of the Transformer print what the pages say."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path

import pytest

PAGES = Path(__file__).parents[2] / "docs" / "transformer"
SLOW = {"encoder_decoder"}
CODE_AND_OUTPUT = re.compile(r"```python\n(.*?)```\n\n```text\n(.*?)```", re.DOTALL)
EXAMPLES = {
    page.stem: CODE_AND_OUTPUT.findall(page.read_text(encoding="utf-8"))
    for page in sorted(PAGES.glob("*.md"))
}


def test_pages_have_examples() -> None:
    assert {name for name, found in EXAMPLES.items() if found} >= {
        "post_norm",
        "lecture_pre_norm",
        "rezero",
        "rms_norm",
        "feed_forward",
        "encoder_decoder",
    }


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow) if name in SLOW else name for name in EXAMPLES]
)
def test_an_example_prints_what_its_page_shows(name: str) -> None:
    for code, expected in EXAMPLES[name]:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(code, name, "exec"), {})  # our own page
        assert printed.getvalue() == expected
