"""Docstrings on the pages of the API: arguments become a list, doctests become code."""

from __future__ import annotations

from tests.docs.pages import page_writer

DOCSTRING = """A layer.

    output = Layer(10)(input)

cell: its equations,
    by name.
fast: False uses the plain scan.

>>> 1 + 1
2"""


def test_arguments_become_a_list_and_doctests_code() -> None:
    text = page_writer("docstring_markdown").as_markdown(DOCSTRING)
    assert "- `cell`: its equations,\n    by name.\n- `fast`: False" in text
    assert "```pycon\n>>> 1 + 1\n2\n```" in text
    assert text.startswith("A layer.\n\n    output = Layer(10)(input)\n")


def test_a_sentence_with_a_colon_stays_a_sentence() -> None:
    text = "Says where: what was found."
    assert page_writer("docstring_markdown").as_markdown(text) == text
