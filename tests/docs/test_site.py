"""The site has every page of docs in its navigation, in the order that the pages themselves give."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import yaml

from tests.docs.pages import ROOT

DOCS = ROOT / "docs"


def nav_pages(part: Any) -> Iterator[str]:
    """The pages of a part of the navigation, from top to bottom."""
    if isinstance(part, str):
        yield part
    elif isinstance(part, list):
        for entry in part:
            yield from nav_pages(entry)
    else:
        for entry in part.values():
            yield from nav_pages(entry)


def config() -> dict[str, Any]:
    return yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))


def test_every_page_is_in_the_navigation_once() -> None:
    pages = sorted(path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md"))
    assert sorted(nav_pages(config()["nav"])) == pages


def test_concepts_are_in_their_reading_order() -> None:
    index = (DOCS / "concepts" / "index.md").read_text(encoding="utf-8")
    order = [f"concepts/{target}" for target in re.findall(r"^\d+\. \[.*?\]\((.*?)\)", index, re.M)]
    pages = [page for page in nav_pages(config()["nav"]) if page in order]
    assert pages == order


def test_search_works_from_disk_and_nothing_is_loaded_from_elsewhere() -> None:
    assert "offline" in config()["plugins"]
    assert config()["theme"]["font"] is False
    assert config()["use_directory_urls"] is False
