"""What the documents say about commands, settings and files is true."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.main import get_command

import seqlab
from seqlab.cli.main import app
from seqlab.recipes.read import check, override, shipped_recipes
from seqlab.recipes.sections import section_names, settings_help
from seqlab.recipes.task_registry import registered_tasks
from seqlab.sources.formats.registry import source_formats
from tests.check_each import check_each
from tests.docs.commands import commands, quoted_commands
from tests.docs.pages import ROOT, page_writer

VERBS = get_command(app).commands
DOCUMENTS = sorted([ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")])
COMMON = {"-h", "--help", "--debug", "--plugin"}
SETTINGS = {entry.name for section in section_names() for entry in settings_help(section)}
CODE = [
    path.relative_to(ROOT).as_posix()
    for folder in ("src", "tests", "docs", "examples", "benchmarks")
    for path in (ROOT / folder).rglob("*.py")
]
WRITTEN_BY_THE_READER = ("topics.py", "studies/x.py")
FILES = {f"{path.stem}.py" for path in (ROOT / "src").rglob("*.py")}


def check_documents(check: Callable[[Path], None]) -> None:
    check_each(DOCUMENTS, check, name=lambda path: path.relative_to(ROOT).as_posix())


def test_commands_have_verbs_and_options_that_exist() -> None:
    check_documents(commands_exist)


def commands_exist(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    for words in commands(text):
        check_verb_and_options(words)
        if words[1] == "train" and "--plugin" not in words:  # tests/plugins runs those
            settings = [word for word in words[3:] if re.match(r"[a-z]+\.[a-z_]+=", word)]
            model = words[words.index("--model") + 1] if "--model" in words else ""
            settings += [f"start.run={words[words.index('--from') + 1]}"] if "--from" in words else []
            check(override({}, settings, model=model), where=path.name)
    for words in quoted_commands(text):
        check_verb_and_options(words)


def check_verb_and_options(words: list[str]) -> None:
    if words[1].startswith("-") or words[1].isupper():  # --version; a placeholder
        return
    assert words[1] in VERBS, " ".join(words)
    known = {name for option in VERBS[words[1]].params for name in option.opts} | COMMON
    options = {word.partition("=")[0] for word in words[2:] if word.startswith("--")}
    assert options <= known, f"{' '.join(words)}: {options - known}"


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


def test_files_of_code_named_in_a_document_exist() -> None:
    check_documents(files_exist)


def files_exist(path: Path) -> None:
    named = re.findall(r"`([\w./-]+\.py)`", path.read_text(encoding="utf-8"))
    missing = [name for name in named if not any(f"/{file}".endswith(f"/{name}") for file in CODE)]
    assert [name for name in missing if "NAME" not in name and name not in WRITTEN_BY_THE_READER] == []


def test_every_shipped_recipe_has_a_page_and_a_line_in_their_index() -> None:
    index = (ROOT / "docs" / "recipes" / "index.md").read_text(encoding="utf-8")
    for name in shipped_recipes():
        assert (ROOT / "docs" / "recipes" / f"{name}.md").is_file()
        assert f"`{name}`" in index


def test_every_task_has_a_line_on_the_home_page() -> None:
    home = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    assert [name for name in registered_tasks.names() if f"| `{name}` |" not in home] == []


def test_the_readme_links_every_notebook_and_the_examples_and_tutorials_name_their_script() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    links = ["examples", *(f"notebooks/{path.name}" for path in (ROOT / "notebooks").glob("*.ipynb"))]
    assert [link for link in links if f"]({link})" not in readme] == []
    home = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    assert {"`examples/`", "`notebooks/`"} <= set(re.findall(r"`\w+/`", home))
    tutorials = {
        path.stem: path.read_text(encoding="utf-8") for path in (ROOT / "docs/tutorials").glob("*.md")
    }
    assert [task for task, text in tutorials.items() if "`examples/" not in text] == []


def test_every_format_has_a_line_on_the_page_of_formats() -> None:
    page = (ROOT / "docs" / "reference" / "file_formats.md").read_text(encoding="utf-8")
    assert [name for name in source_formats.names() if f"`{name}`" not in page] == []


def test_every_public_name_is_in_the_reference_of_the_python_api() -> None:
    folder = ROOT / "docs" / "reference" / "api"
    pages = "\n".join(path.read_text(encoding="utf-8") for path in folder.glob("*.md"))
    public = {name for name in seqlab.__all__ if not name.startswith("__")}
    assert {name for name in public if not re.search(rf"::: seqlab\.(\w+\.)*{name}\b", pages)} == set()


def test_the_readme_is_short() -> None:
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= 150


@pytest.mark.parametrize("name", ["settings_page", "glossary_page", "cli_page"])
def test_generated_pages_are_what_the_code_says(name: str) -> None:
    writer = page_writer(name)
    assert writer.PAGE.read_text(encoding="utf-8") == writer.page(), f"run: python docs/{name}.py"
