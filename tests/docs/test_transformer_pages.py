"""The examples on the pages of the Transformer print what the pages say."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.check_each import check_each
from tests.docs.examples import examples_of, examples_print_what_stands_below

FOLDER = Path(__file__).parents[2] / "docs" / "concepts" / "transformer"
PAGES = {page.stem: page for page in sorted(FOLDER.glob("*.md"))}
SLOW = {"encoder_decoder"}


def test_pages_have_examples() -> None:
    assert {name for name, page in PAGES.items() if examples_of(page)} >= {
        "post_norm",
        "lecture_pre_norm",
        "rezero",
        "rms_norm",
        "feed_forward",
        "encoder_decoder",
    }


@pytest.mark.parametrize(
    "names", [PAGES.keys() - SLOW, pytest.param(SLOW, marks=pytest.mark.slow)], ids=["quick", "slow"]
)
def test_an_example_prints_what_its_page_shows(names: set[str]) -> None:
    check_each(sorted(names), lambda name: examples_print_what_stands_below(PAGES[name]))


def test_every_page_is_reached_from_the_index_and_leads_back() -> None:
    index = PAGES["index"].read_text(encoding="utf-8")
    for name, page in PAGES.items():
        assert name == "index" or f"({name}.md" in index
        assert name == "index" or "(index.md" in page.read_text(encoding="utf-8")
