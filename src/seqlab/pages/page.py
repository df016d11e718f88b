"""The frame of every page: one self-contained file without scripts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from seqlab.pages.html import Markup, tag, text
from seqlab.pages.style import style_sheet
from seqlab.pages.warnings import warnings_box

# Nothing may be fetched and no script may run, whatever a user's text contains.
POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"
MAX_TITLE_CHARACTERS = 200


@dataclass(frozen=True)
class Section:
    """One part of a page, with its place in the contents list."""

    ident: str
    title: str
    body: Markup


def render_page(
    *, title: str, subtitle: str, created: str, notices: Sequence[str], sections: Sequence[Section]
) -> str:
    """A whole HTML document."""
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=POLICY),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("meta", name="referrer", content="no-referrer"),
        tag("title", text(title, limit=MAX_TITLE_CHARACTERS)),
        tag("style", style_sheet()),
    )
    body = tag(
        "body",
        tag("header", _heading(title, subtitle, created), warnings_box(notices), _contents(sections)),
        tag("main", *[_section(section) for section in sections]),
        tag("footer", "Made by seqlab. This page is self-contained: it loads nothing and runs no scripts."),
    )
    return f"<!doctype html>\n{tag('html', head, body, lang='en')}\n"


def _heading(title: str, subtitle: str, created: str) -> Markup:
    parts = [tag("p", "seqlab report", tag("span", " · ", created) if created else "", class_="eyebrow")]
    parts.append(tag("h1", text(title, limit=MAX_TITLE_CHARACTERS)))
    if subtitle:
        parts.append(tag("p", subtitle, class_="subtitle"))
    return tag("div", *parts)


def _contents(sections: Sequence[Section]) -> Markup:
    if not sections:
        return Markup("")
    links = [tag("li", tag("a", section.title, href=f"#{section.ident}")) for section in sections]
    return tag("nav", tag("ul", *links), aria_label="Contents")


def _section(section: Section) -> Markup:
    return tag("section", tag("h2", section.title), section.body, id=section.ident)
