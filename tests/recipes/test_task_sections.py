"""Every task has a section of its own, found through its spec; tasks of plug-ins too."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator

import pytest
from pydantic import Field

from seqlab.core.errors import RecipeError
from seqlab.core.settings import Settings
from seqlab.decoding.settings import NoDecoding, SamplingSettings, SearchSettings
from seqlab.recipes.read import check, override, with_task
from seqlab.recipes.recipe import Recipe
from seqlab.recipes.sections import dotted_names, sections_with, settings_help, task_sections
from seqlab.tasks.language_model.spec import LanguageModelSettings
from seqlab.tasks.masked_language_model.spec import MaskedLanguageModelSettings
from seqlab.tasks.spec import find_spec, task_specs
from seqlab.tasks.tagging.settings import TaggingSettings


@pytest.mark.parametrize("task", task_specs.names())
def test_a_recipe_of_every_task_survives_its_file(task: str) -> None:
    values = {entry.name: entry.default for entry in (settings_help(task) if task in task_sections() else [])}
    first = check(override({"task": task}, [], values=values), where="first")
    written = first.to_toml()
    again = check(tomllib.loads(written), where="again", is_trained=True)
    assert again == first
    assert again.to_toml() == written
    assert (f"\n[{task}]\n" in written) == (task in task_sections())


def test_settings_of_a_task_are_read_by_their_class() -> None:
    recipe = check({"task": "language_model", "language_model": {"window": 9}}, where="")
    assert recipe.section(LanguageModelSettings).window == 9
    with pytest.raises(LookupError, match="TaggingSettings"):
        recipe.section(TaggingSettings)


def test_the_section_of_a_task_decides_the_task() -> None:
    recipe = check(override({}, ["masked_language_model.window=64"]), where="")
    assert recipe.task == "masked_language_model"
    assert recipe.section(MaskedLanguageModelSettings).window == 64


def test_the_section_of_another_task_is_a_mistake() -> None:
    with pytest.raises(RecipeError) as caught:
        check({"task": "tagging", "language_model": {"window": 9}}, where="my.toml")
    for fact in ("my.toml", "language_model", "tagging", "task=language_model"):
        assert fact in caught.value.message


@pytest.mark.parametrize(
    ("task", "decoding"),
    [("language_model", SamplingSettings), ("captioning", SearchSettings), ("regression", NoDecoding)],
)
def test_decoding_is_what_the_task_understands(task: str, decoding: type[Settings]) -> None:
    assert type(check({"task": task}, where="").decoding) is decoding
    assert type(with_task(check({}, where=""), task).decoding) is decoding


def test_a_guessed_task_keeps_what_was_set_and_checks_decoding_again() -> None:
    raw = {"decoding": {"beam": 4}, "model": {"kind": "transformer", "layers": 3}, "training": {"steps": 7}}
    first = check(raw, where="")
    recipe = with_task(first, "translation")
    assert (recipe.task, recipe.decoding.beam, recipe.training.steps) == ("translation", 4, 7)
    assert recipe.model is first.model
    assert recipe.training.model_fields_set == {"steps"}
    assert recipe.decoding.model_fields_set == {"beam"}
    with pytest.raises(RecipeError, match="beam"):
        with_task(first, "language_model")


def test_a_keyword_means_the_section_of_the_task_where_the_task_is_known() -> None:
    assert dotted_names({"window": 64}, task="masked_language_model") == (
        {"masked_language_model.window": 64},
        [],
    )
    assert dotted_names({"window": 64}, task="classification") == ({"model.window": 64}, [])
    _, mistakes = dotted_names({"window": 64})
    for section in ("model", "language_model", "masked_language_model"):
        assert f"{section}.window" in mistakes[0]
    _, mistakes = dotted_names({"crf": True}, task="regression")
    assert "regression" in mistakes[0]


class ForecastSettings(Settings):
    """How far a forecast looks ahead."""

    lookahead: int = Field(24, ge=1, description="Steps to forecast.")


@pytest.fixture
def forecasting() -> Iterator[str]:
    """A task that a plug-in registers."""
    regression = type(find_spec("regression"))
    task = type("ForecastSpec", (regression,), {"name": "forecast", "settings": ForecastSettings})
    task_specs.register("forecast")(task)
    yield "forecast"
    task_specs._parts.pop("forecast")


def test_a_task_of_a_plugin_has_its_section_without_any_list(forecasting: str) -> None:
    recipe = check(override({}, ["forecast.lookahead=12"]), where="")
    assert recipe.task == forecasting
    assert recipe.section(ForecastSettings).lookahead == 12
    assert check(tomllib.loads(recipe.to_toml()), where="") == recipe
    assert sections_with("lookahead") == ["forecast"]
    assert dotted_names({"lookahead": 3}) == ({"forecast.lookahead": 3}, [])
    assert [entry.name for entry in settings_help("forecast")] == ["forecast.lookahead"]
    with pytest.raises(RecipeError, match=r"forecast\.lookahead: expected a whole number of at least 1"):
        check({"forecast": {"lookahead": 0}}, where="")


def test_a_task_that_is_registered_again_has_the_settings_of_the_new_one() -> None:
    """As in a notebook, where a cell with a plug-in runs twice."""
    regression = type(find_spec("regression"))
    before = check({"task": "regression"}, where="")
    for settings in (Settings, ForecastSettings):
        task = type("AgainSpec", (regression,), {"name": "again", "settings": settings})
        task_specs._parts["again"] = task
        assert type(find_spec("again")) is task
        assert ("again" in type(check({"task": "again"}, where="")).model_fields) == (
            settings is ForecastSettings
        )
    task_specs._parts.pop("again")
    assert check({"task": "regression"}, where="") == before


def test_no_recipe_lists_the_tasks() -> None:
    assert not set(task_specs.names()) & set(Recipe.model_fields)
