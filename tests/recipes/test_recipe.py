"""Recipes as a whole: written, read again, explained, shipped."""

from __future__ import annotations

import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seqlab.core.settings import Settings, describe
from seqlab.models.settings import SHORT_NAMES
from seqlab.recipes.reading import TASKS, check, override, read_raw, sentence_of, shipped_recipes
from seqlab.recipes.recipe import SECTIONS, Recipe, settings_help
from seqlab.tasks.base import tasks

ALL_SETTINGS = [(kind, entry) for kinds in [*SECTIONS.values(), (Recipe,)] for kind in kinds for entry in describe(kind)]


@pytest.mark.parametrize("model", SHORT_NAMES)
def test_a_recipe_that_is_written_and_read_again_is_the_same(model: str) -> None:
    first = check(override({}, ["data.features=a,b", "data.delimiter=;", "training.learning_rate=3e-05"], model=model), where="first")
    again = check(tomllib.loads(first.to_toml()), where="again")
    assert again == first
    assert again.to_toml() == first.to_toml()


@given(st.text(st.characters(exclude_categories=["Cs"])), st.floats(0, 1e6), st.lists(st.text(st.characters(exclude_categories=["Cs"]))))
def test_any_text_and_number_survives_the_file(text: str, minutes: float, features: list[str]) -> None:
    first = check({"data": {"train": text, "features": features}, "training": {"minutes": minutes}}, where="first")
    assert check(tomllib.loads(first.to_toml()), where="again") == first


@pytest.mark.parametrize(("kind", "entry"), ALL_SETTINGS, ids=lambda value: value.__name__ if isinstance(value, type) else value.name)
def test_every_setting_has_a_help_sentence(kind: type[Settings], entry: object) -> None:
    sentence = getattr(entry, "sentence", "")
    assert sentence.endswith("."), f"{kind.__name__}.{entry}"
    assert sentence[0].isupper() or sentence.split()[0].rstrip(",.:") in ("auto", "bfloat16")  # a value may start its sentence
    assert len(sentence) < 160


@pytest.mark.parametrize("section", SECTIONS)
def test_help_lists_every_setting_of_a_section_by_its_dotted_name(section: str) -> None:
    expected = {f"{section}.{name}" for kind in SECTIONS[section] for name in kind.model_fields}
    assert {entry.name for entry in settings_help(section)} == expected


def test_the_tasks_a_recipe_may_name_are_the_tasks_there_are() -> None:
    assert list(TASKS) == tasks.names()


@pytest.mark.parametrize("name", shipped_recipes())
def test_a_shipped_recipe_is_valid_and_says_what_it_is(name: str) -> None:
    assert check(read_raw(name), where=name).task in TASKS
    assert sentence_of(name).endswith(".")
