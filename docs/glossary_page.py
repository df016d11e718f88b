"""Writes docs/reference/glossary.md from the terms of `seqlab explain`: `python docs/glossary_page.py`.

A test compares the two.
"""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

from seqlab.cli.glossary.terms import Term, terms_by_topic

DOCS = Path(__file__).parent
PAGE = DOCS / "reference" / "glossary.md"
INTRODUCTION = (
    "Every term that `seqlab explain TERM` knows, made from the same data by `python docs/glossary_page.py`."
    " Names of models, cells, optimizers and settings are explained by the same command."
)


def page() -> str:
    """All topics, each with its terms in alphabetical order."""
    lines = ["# Glossary", "", INTRODUCTION, ""]
    for title, terms in terms_by_topic().items():
        lines += [f"## {title.partition(':')[0].rstrip('.')}", ""]
        for _, term in sorted(terms.items(), key=lambda item: item[0].casefold()):
            lines += [*_entry(term), ""]
    return "\n".join(lines)


def _entry(term: Term) -> list[str]:
    """The term, its meaning, its equation, what to set and try, and the names that lead to it."""
    lines = [f"### {term.name}", "", term.meaning]
    if term.equations:
        lines += ["", "```text", *term.equations, "```"]
    lines += ["", f"- Try: `{term.command}`"]
    if term.settings:
        lines.append(f"- Settings: {', '.join(f'`{name}`' for name in term.settings)}")
    lines.append(f"- Read: {_link(term)}")
    if term.also:
        lines.append(f"- Search terms: {', '.join(term.also)}")
    return lines


def _link(term: Term) -> str:
    path = DOCS.parent / term.page
    return f"[{_title(path)}]({os.path.relpath(path, PAGE.parent)})"


@cache
def _title(path: Path) -> str:
    """The first heading of a page."""
    return path.read_text(encoding="utf-8").partition("\n")[0].removeprefix("# ")


if __name__ == "__main__":
    PAGE.parent.mkdir(exist_ok=True)
    PAGE.write_text(page(), encoding="utf-8")
