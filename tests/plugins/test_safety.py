"""Recipes and run folders never load code, whoever wrote them."""

from __future__ import annotations

from pathlib import Path

import pytest

from seqlab.core.errors import RecipeError
from seqlab.recipes.read import check, read_raw
from seqlab.recipes.sections import section_names
from seqlab.runs.folder.layout import read_recipe

KEYS = ("plugin", "plugins", "imports", "entry_points", "callback", "callbacks")


@pytest.fixture
def trap(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A Python file that leaves a mark when it is run, in the folder where the recipe is."""
    path = tmp_path / "trap.py"
    path.write_text("import pathlib\npathlib.Path('sprung').touch()\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    return path


@pytest.mark.parametrize("key", KEYS)
def test_a_recipe_cannot_ask_for_a_plug_in(key: str, trap: Path) -> None:
    for section in ("", *(name for name in section_names() if "." not in name)):
        lines = [f"[{section}]"] if section else []
        recipe = trap.with_name("recipe.toml")
        recipe.write_text("\n".join([*lines, f'{key} = ["trap.py"]']), encoding="utf-8")
        with pytest.raises(RecipeError, match=key):
            check(read_raw(str(recipe)), where="recipe.toml")
        with pytest.raises(RecipeError, match=key):
            read_recipe(trap.parent)
    assert not Path("sprung").exists()


@pytest.mark.parametrize(
    "name", ["trap", "trap.py", "./trap.py", "trap:Part", "../trap", "seqlab.cells.lstm"]
)
@pytest.mark.parametrize(
    "setting",
    ["tokens.kind", "model.cell", "training.optimizer", "decoder.attention", "data.format", "task"],
)
def test_the_name_of_a_part_is_never_the_name_of_a_file(setting: str, name: str, trap: Path) -> None:
    section, dot, key = setting.partition(".")
    raw = {section: {key: name}} if dot else {section: name}
    with pytest.raises(RecipeError):
        check(raw, where="recipe.toml")
    assert not Path("sprung").exists()


def test_no_environment_variable_loads_code(trap: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("SEQLAB_PLUGIN", "SEQLAB_PLUGINS"):
        monkeypatch.setenv(name, str(trap))
    with pytest.raises(RecipeError):
        check({"tokens": {"kind": "trap"}}, where="recipe.toml")
    assert not Path("sprung").exists()
