"""Recipes as a whole: written, read again, explained, shipped."""

from __future__ import annotations

import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seqlab.cells.settings import CELL_KINDS
from seqlab.core.errors import RecipeError
from seqlab.core.settings import SettingHelp, Settings, describe
from seqlab.models.aliases import MODEL_ALIASES
from seqlab.recipes.read import check, override, read_raw, recipe_summary, shipped_recipes
from seqlab.recipes.recipe import Recipe
from seqlab.recipes.sections import section_names, settings_help, settings_of
from seqlab.tasks.spec import task_specs
from tests.check_each import check_each

ALL_SETTINGS = [
    (kind, entry)
    for kinds in [*map(settings_of, section_names()), (Recipe,)]
    for kind in kinds
    for entry in describe(kind)
]


@pytest.mark.parametrize("model", MODEL_ALIASES)
def test_a_recipe_that_is_written_and_read_again_is_the_same(model: str) -> None:
    first = check(
        override({}, ["data.features=a,b", "data.delimiter=;", "training.learning_rate=3e-05"], model=model),
        where="first",
    )
    again = check(tomllib.loads(first.to_toml()), where="again")
    assert again == first
    assert again.to_toml() == first.to_toml()


@pytest.mark.parametrize("name", CELL_KINDS)
def test_the_section_of_the_cell_is_written_with_every_option(name: str) -> None:
    written = tomllib.loads(check({"model": {"cell": name}}, where="test").to_toml())
    assert written["model"]["cell"] == {
        option: _listed(field.default) for option, field in CELL_KINDS[name].model_fields.items()
    }


def _listed(value: object) -> object:
    return list(value) if isinstance(value, tuple) else value


@pytest.mark.parametrize("name", ["rnn", "lstm", "gru"])
def test_a_recipe_of_an_older_run_names_its_cell_by_a_word(name: str) -> None:
    before = f'''format = 1
task = "language_model"

[model]
kind = "recurrent"
cell = "{name}"
layers = 2
hidden_size = 10
embedding_size = 0
bidirectional = false
dropout = 0.2
pooling = "last"
tied = true
'''
    found = check(tomllib.loads(before), where="recipe.toml").model
    assert (
        found == check({"model": {"cell": {"kind": name}, "layers": 2, "hidden_size": 10}}, where="new").model
    )


@given(
    st.text(st.characters(exclude_categories=["Cs"])),
    st.floats(0, 1e6),
    st.lists(st.text(st.characters(exclude_categories=["Cs"]))),
)
def test_any_text_and_number_survives_the_file(text: str, minutes: float, features: list[str]) -> None:
    first = check(
        {"data": {"train": text, "features": features}, "training": {"minutes": minutes}}, where="first"
    )
    assert check(tomllib.loads(first.to_toml()), where="again") == first


def test_every_setting_has_a_help_sentence() -> None:
    check_each(
        ALL_SETTINGS, has_a_help_sentence, name=lambda setting: f"{setting[0].__name__}.{setting[1].name}"
    )


def has_a_help_sentence(setting: tuple[type[Settings], SettingHelp]) -> None:
    sentence = setting[1].sentence
    assert sentence.endswith(".")
    assert sentence[0].isupper() or sentence.split()[0].rstrip(",.:") in (
        "auto",
        "bfloat16",
        "modrelu",
        "tanh(W",
    )  # a value may start its sentence
    assert len(sentence) < 160


@pytest.mark.parametrize("section", section_names())
def test_help_lists_every_setting_of_a_section_by_its_dotted_name(section: str) -> None:
    expected = {f"{section}.{name}" for kind in settings_of(section) for name in kind.model_fields}
    assert {entry.name for entry in settings_help(section)} == expected


def test_the_tasks_a_recipe_may_name_are_the_tasks_there_are() -> None:
    for name in task_specs.names():
        assert check({"task": name}, where="").task == name
    with pytest.raises(RecipeError, match="task: expected captioning, classification"):
        check({"task": "clasification"}, where="")


@pytest.mark.parametrize("name", shipped_recipes())
def test_a_shipped_recipe_is_valid_and_says_what_it_is(name: str) -> None:
    assert check(read_raw(name), where=name).task in task_specs.names()
    assert recipe_summary(name).endswith(".")


def test_a_change_of_a_setting_that_does_not_exist_is_a_mistake_of_ours() -> None:
    with pytest.raises(AssertionError, match="learning_rat"):
        Recipe().changed("training", learning_rat=1.0)
