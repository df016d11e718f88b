"""Examples in documents: a block of Python, and below it what it prints."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path

CODE_AND_OUTPUT = re.compile(r"```python\n((?:(?!```).)*)```\n\n```text\n(.*?)```", re.DOTALL)


def examples_of(page: Path) -> list[tuple[str, str]]:
    """Each example of a page with the text below it."""
    return CODE_AND_OUTPUT.findall(page.read_text(encoding="utf-8"))


def examples_print_what_stands_below(page: Path) -> None:
    """Run the examples of a page, each by itself."""
    for code, expected in examples_of(page):
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(code, page.name, "exec"), {})  # our own page
        assert printed.getvalue() == expected, f"prints\n{printed.getvalue()}and the page says\n{expected}"


def all_examples_print_what_stands_below(page: Path) -> None:
    """The same for a page on which every block of Python has its output below it."""
    examples = examples_of(page)
    blocks = page.read_text(encoding="utf-8").count("```python")
    assert len(examples) == blocks > 0, f"{blocks} blocks of Python, {len(examples)} with their output below"
    examples_print_what_stands_below(page)
