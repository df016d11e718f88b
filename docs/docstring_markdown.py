"""Shows the docstrings of the API pages as they are meant: named by mkdocs.yml as an extension of griffe.

Docstrings here explain an argument as `name: sentence` at the start of a line, and have doctests between
paragraphs. To the parser the first are admonitions and the second block quotes; they become a list and code.
"""

from __future__ import annotations

import re
from typing import Any

from griffe import Docstring, Extension, Object

ARGUMENT = re.compile(r"^([a-z_]+(?:, [a-z_]+)*): (?=\S)")
SECTIONS = ("Args:", "Returns:", "Raises:", "Yields:", "Examples:")


class DocstringMarkdown(Extension):
    """Rewrites every docstring before it is parsed."""

    def on_object(self, *, obj: Object, **kwargs: Any) -> None:
        docstring: Docstring | None = obj.docstring
        if docstring is not None and not any(f"\n{section}" in docstring.value for section in SECTIONS):
            docstring.value = as_markdown(docstring.value)


def as_markdown(text: str) -> str:
    """Arguments as a list, doctests as blocks of code."""
    return "\n\n".join(_paragraph(paragraph) for paragraph in re.split(r"\n{2,}", text))


def _paragraph(paragraph: str) -> str:
    if paragraph.startswith(">>> "):
        return f"```pycon\n{paragraph}\n```"
    if ARGUMENT.match(paragraph):
        lines = paragraph.splitlines()
        return "\n".join(ARGUMENT.sub(lambda found: f"- `{found[1]}`: ", line) for line in lines)
    return paragraph
