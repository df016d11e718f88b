"""What the documents say about commands, settings and files is true."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.main import get_command

from seqlab.cli.main import app
from seqlab.datasets.base import datasets
from seqlab.models.aliases import MODEL_ALIASES
from seqlab.recipes.read import check, override, shipped_recipes
from seqlab.recipes.sections import section_names, settings_help
from tests.check_each import check_each
from tests.docs.pages import ROOT, page_writer

VERBS = get_command(app).commands
DOCUMENTS = sorted([ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")])
SETTINGS = {entry.name for section in section_names() for entry in settings_help(section)}
FILES = {f"{path.stem}.py" for path in (ROOT / "src").rglob("*.py")}


def commands(text: str) -> list[list[str]]:
    """Every line of a document that is a seqlab command, as its words."""
    lines = [line.strip().removeprefix("$ ") for line in text.splitlines()]
    return [
        shlex.split(line.partition("  #")[0])
        for line in lines
        if line.startswith("seqlab ") and not line.startswith("seqlab [")
    ]


def check_documents(check: Callable[[Path], None]) -> None:
    check_each(DOCUMENTS, check, name=lambda path: path.relative_to(ROOT).as_posix())


def test_commands_have_verbs_and_options_that_exist() -> None:
    check_documents(commands_exist)


def commands_exist(path: Path) -> None:
    for words in commands(path.read_text(encoding="utf-8")):
        if words[1].startswith("-"):
            continue
        assert words[1] in VERBS, f"{path.name}: {' '.join(words)}"
        known = {name for option in VERBS[words[1]].params for name in option.opts} | {
            "-h",
            "--help",
            "--debug",
            "--plugin",
        }
        assert {word for word in words[2:] if word.startswith("--")} <= known, (
            f"{path.name}: {' '.join(words)}"
        )
        if words[1] == "train" and "--plugin" not in words:  # tests/plugins runs those
            settings = [word for word in words[3:] if re.match(r"[a-z]+\.[a-z_]+=", word)]
            check(
                override({}, settings, model=words[words.index("--model") + 1] if "--model" in words else ""),
                where=path.name,
            )


def test_settings_named_in_a_document_exist() -> None:
    check_documents(settings_exist)


def settings_exist(path: Path) -> None:
    named = re.findall(
        r"`((?:data|tokens|model|training|decoding)\.[a-z_]+)(?:=[^`]*)?`", path.read_text(encoding="utf-8")
    )
    named = {name for name in named if name.partition(".")[2] not in ("py", "toml", "safetensors")}
    assert {name for name in named if name not in SETTINGS and name not in FILES} == set()


def test_links_to_files_lead_somewhere() -> None:
    check_documents(links_lead_somewhere)


def links_lead_somewhere(path: Path) -> None:
    for target in re.findall(r"\]\(([^)#:]+)\)", path.read_text(encoding="utf-8")):
        assert (path.parent / target).exists(), f"{path.name}: {target}"


def test_every_shipped_recipe_has_a_page_and_every_model_and_dataset_is_listed_in_the_readme() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    for name in shipped_recipes():
        assert (ROOT / "docs" / "recipes" / f"{name}.md").is_file()
        assert f"`{name}`" in readme
    assert [name for name in datasets.names() if f"`{name}`" not in readme] == []
    assert [
        name
        for name in ("rnn", "lstm", "gru", "bilstm", "cnn", "transformer")
        if name not in MODEL_ALIASES or f"`{name}`" not in readme
    ] == []


@pytest.mark.parametrize("name", ["settings_page", "glossary_page"])
def test_generated_pages_are_what_the_code_says(name: str) -> None:
    writer = page_writer(name)
    assert writer.PAGE.read_text(encoding="utf-8") == writer.page(), f"run: python docs/{name}.py"
