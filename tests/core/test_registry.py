"""Parts are found by name: in the files of a package, in plug-ins, or registered by the program."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from seqlab.core.errors import UsageError
from seqlab.core.plugins import load_plugin_file
from seqlab.core.registry import Registry
from seqlab.datasets.base import datasets
from seqlab.models.base import backbones
from seqlab.tasks.spec import task_specs
from seqlab.tokens.base import tokenizers

REGISTRIES = [datasets, backbones, task_specs, tokenizers]


@pytest.mark.parametrize("registry", REGISTRIES, ids=lambda registry: registry.kind)
def test_every_name_gives_a_part_and_a_sentence(registry: Registry[type]) -> None:
    assert registry.names()
    for name in registry.names():
        assert isinstance(registry.get(name), type)
        assert registry.summary(name).rstrip(")").endswith((".", "?")), name


def test_an_unknown_name_gets_the_nearest() -> None:
    with pytest.raises(UsageError, match="there is no dataset called 'digitz'") as caught:
        datasets.get("digitz")
    assert "Did you mean 'digits'?" in str(caught.value)


@pytest.mark.parametrize("name", ["__init__", "base", "../core/errors", "os", ""])
def test_only_parts_of_the_room_can_be_asked_for(name: str) -> None:
    with pytest.raises(UsageError):
        datasets.get(name)


def test_a_name_is_registered_once() -> None:
    registry: Registry[type] = Registry("thing", package="seqlab.core")
    registry.register("a")(int)
    with pytest.raises(ValueError, match="thing 'a' is registered twice"):
        registry.register("a")(str)


def test_a_definition_that_is_run_again_replaces_itself() -> None:
    """As when a notebook's cell is run twice."""
    registry: Registry[type] = Registry("thing", package="seqlab.core")

    def define() -> type:
        @registry.register("a")
        class Thing: ...

        return Thing

    first, second = define(), define()
    assert registry.get("a") is second is not first


def test_a_built_in_name_is_known_without_importing_plug_ins(monkeypatch: pytest.MonkeyPatch) -> None:
    registry: Registry[type] = Registry("dataset", package="seqlab.datasets")
    monkeypatch.setattr("seqlab.core.registry.load_installed_plugins", lambda: pytest.fail("imported"))
    assert "digits" in registry


def test_names_and_sentences_are_read_without_importing() -> None:
    code = (
        "import sys; from seqlab.core.registry import Registry; registry = Registry('model',"
        " package='seqlab.models');print(registry.names(), registry.summary('recurrent'), 'torch' in"
        " sys.modules)"
    )
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert printed.startswith(
        "['convolutional', 'fixed_window', 'recurrent', 'transformer'] Recurrent networks"
    )
    assert printed.endswith("False\n")


def test_a_package_is_searched_with_its_sub_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    inner = tmp_path / "fruit" / "stone"
    inner.mkdir(parents=True)
    (tmp_path / "fruit" / "__init__.py").write_text(
        "from seqlab.core.registry import Registry\nfruit = Registry('fruit', package='fruit')\n"
    )
    (inner / "__init__.py").write_text("")
    parts = "".join(
        f'\n\n@fruit.register("{name.lower()}")\nclass {name}: ...\n' for name in ("Plum", "Peach")
    )
    (inner / "drupes.py").write_text(f'"""Fruit with a stone."""\nfrom fruit import fruit\n{parts}')
    monkeypatch.syspath_prepend(tmp_path)
    registry: Registry[type] = Registry("fruit", package="fruit")
    assert registry.names() == ["peach", "plum"]
    assert registry.summary("plum") == "Fruit with a stone."
    from fruit import fruit  # type: ignore[import-not-found]

    assert fruit.get("peach").__name__ == "Peach"
    for name in ("fruit", "fruit.stone", "fruit.stone.drupes"):
        monkeypatch.delitem(sys.modules, name)


def test_a_part_of_the_users_own_is_listed_and_cannot_replace_a_built_in_one() -> None:
    registry: Registry[type] = Registry("dataset", package="seqlab.datasets")

    @registry.register("mine")
    class Mine:
        """My own data."""

    assert "mine" in registry.names()
    assert registry.get("mine") is Mine
    assert registry.summary("mine") == "My own data."
    with pytest.raises(ValueError, match="dataset 'digits' is registered twice"):
        registry.register("digits")(Mine)


def test_a_file_is_a_plug_in(tmp_path: Path) -> None:
    path = tmp_path / "my_data.py"
    path.write_text(
        "from seqlab.datasets.base import datasets\n\n@datasets.register('plugged')\nclass Plugged:\n   "
        " 'Data from a plug-in.'\n"
    )
    load_plugin_file(path)
    assert datasets.summary("plugged") == "Data from a plug-in."
    del datasets._parts["plugged"]


def test_two_plug_ins_may_have_files_of_one_name(tmp_path: Path) -> None:
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "parts.py").write_text(
            "from seqlab.datasets.base import datasets\n\n@datasets.register('plugged')\nclass Plugged: ...\n"
        )
    load_plugin_file(tmp_path / "a" / "parts.py")
    load_plugin_file(tmp_path / "a" / "parts.py")  # the same file again is no second part
    with pytest.raises(UsageError, match="'plugged' is registered twice"):
        load_plugin_file(tmp_path / "b" / "parts.py")
    del datasets._parts["plugged"]


@pytest.mark.parametrize(
    ("content", "fact"),
    [(None, "no such file"), ("import nothing_like_this", "nothing_like_this"), ("1 +", "SyntaxError")],
)
def test_a_plug_in_that_cannot_be_imported_is_named(tmp_path: Path, content: str | None, fact: str) -> None:
    path = tmp_path / "broken.py"
    if content is not None:
        path.write_text(content)
    with pytest.raises(UsageError) as caught:
        load_plugin_file(path)
    assert "broken.py" in str(caught.value)
    assert fact in str(caught.value)
