"""The pages of the Transformer have examples, and lead to each other."""

from __future__ import annotations

from pathlib import Path

from tests.docs.story import Code, steps_of

FOLDER = Path(__file__).parents[2] / "docs" / "concepts" / "transformer"
PAGES = {page.stem: page for page in sorted(FOLDER.glob("*.md"))}


def test_pages_have_examples() -> None:
    assert {name for name, page in PAGES.items() if has_example(page)} >= {
        "post_norm",
        "lecture_pre_norm",
        "rezero",
        "rms_norm",
        "feed_forward",
        "encoder_decoder",
    }


def has_example(page: Path) -> bool:
    return any(isinstance(step, Code) and step.prints for step in steps_of(page))


def test_every_page_is_reached_from_the_index_and_leads_back() -> None:
    index = PAGES["index"].read_text(encoding="utf-8")
    for name, page in PAGES.items():
        assert name == "index" or f"({name}.md" in index
        assert name == "index" or "(index.md" in page.read_text(encoding="utf-8")
