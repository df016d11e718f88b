"""What counts as a command, as code and as output on a page."""

from __future__ import annotations

from pathlib import Path
from textwrap import indent

import pytest

from tests.docs.commands import commands
from tests.docs.story import Code, Command, Saved, Step, steps_of


@pytest.fixture
def page(tmp_path: Path) -> Path:
    return tmp_path / "page.md"


def steps(page: Path, text: str) -> list[Step]:
    page.write_text(text, encoding="utf-8")
    return steps_of(page)


def test_after_a_prompt_only_lines_with_a_prompt_are_commands(page: Path) -> None:
    text = "```console\n$ seqlab train a.csv\nnext:\n  seqlab predict runs/a\n$ seqlab list tasks\n```\n"
    assert steps(page, text) == [
        Command(2, "", "seqlab train a.csv", "next:"),
        Command(5, "", "seqlab list tasks", ""),
    ]


def test_lines_of_a_shell_block_are_commands_and_lines_of_text_are_not(page: Path) -> None:
    text = "```sh\n# first\npip install seqlab\n```\n\n```text\nseqlab said so\n```\n"
    assert steps(page, text) == [Command(3, "", "pip install seqlab", "")]


def test_an_indented_block_has_commands_of_known_programs(page: Path) -> None:
    text = "Try it:\n\n    seqlab train a.csv     # quick\n    loss = 0\n\nseqlab trains models.\n"
    assert [(step.line, step.text) for step in steps(page, text) if isinstance(step, Command)] == [
        (3, "seqlab train a.csv     # quick")
    ]


def test_a_backslash_continues_a_command_on_the_next_line(page: Path) -> None:
    text = "```text\n$ seqlab train a.csv \\\n    training.steps=2 \\\n    --out runs/a\ntest: 1\n$ seqlab list\n```\n"
    joined = "seqlab train a.csv training.steps=2 --out runs/a"
    assert steps(page, text) == [Command(2, "", joined, "test: 1"), Command(6, "", "seqlab list", "")]
    assert commands(text) == [joined.split(), ["seqlab", "list"]]
    assert commands(f"Try it:\n\n{indent(text.splitlines()[1], '    ')}\n        --quiet\n") == [
        ["seqlab", "train", "a.csv", "--quiet"]
    ]


def test_a_comment_above_a_block_says_why_it_is_not_run(page: Path) -> None:
    text = "<!-- not run: needs a GPU -->\n```python\n1 / 0\n```\n\n```python\n2\n```\n"
    assert steps(page, text) == [Code(2, "needs a GPU", "1 / 0\n", None), Code(6, "", "2\n", None)]


def test_text_directly_below_code_is_its_output(page: Path) -> None:
    text = (
        "```python\nprint(1)\n```\n\n```text\n1\n```\n\n```python\nprint(2)\n```\n\nSo:\n\n```text\n2\n```\n"
    )
    assert [step.prints for step in steps(page, text) if isinstance(step, Code)] == ["1\n", None]


def test_a_recipe_with_a_name_is_saved(page: Path) -> None:
    assert steps(page, '```toml\n# my.toml\ntask = "tagging"\n```\n') == [
        Saved(1, "", "my.toml", '# my.toml\ntask = "tagging"\n')
    ]
