"""Displays in a notebook: sentences above a table, or a figure with the style of a page in a frame of its own."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence

from seqlab.pages.html import Markup, tag
from seqlab.pages.page import Section, render_page
from seqlab.pages.study import number_table

FRAME_STYLE = "width:100%;border:0"


def sentences_and_table(
    title: str, sentences: Sequence[str], rows: Sequence[Mapping[str, str | int | float]]
) -> Markup:
    """Sentences with the finding, then a table of the numbers.

    >>> sentences_and_table("a < b", ["c"], [])
    '<div><b>a &lt; b</b><p>c</p></div>'
    """
    parts = [tag("p", sentence) for sentence in sentences]
    return tag("div", tag("b", title), *parts, number_table([dict(row) for row in rows]) if rows else "")


def framed_figure(title: str, figure: Markup, *, height: int) -> Markup:
    """A figure in a sandboxed frame: its style does not reach the notebook, and it loads and runs nothing."""
    document = render_page(
        title=title, subtitle="", created="", notices=(), sections=[Section("figure", title, figure)]
    )
    attribute = Markup(html.escape(document, quote=True))
    return tag("iframe", srcdoc=attribute, sandbox=True, height=height, style=FRAME_STYLE)
