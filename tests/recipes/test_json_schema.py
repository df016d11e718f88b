"""The JSON Schema of recipes, checked by another implementation of JSON Schema."""

from __future__ import annotations

import tomllib
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from seqlab.cells.settings import CELL_KINDS
from seqlab.core.settings import default_of, describe
from seqlab.models.settings.section import MODEL_KINDS
from seqlab.recipes.json_schema import DIALECT, recipe_schema
from seqlab.recipes.read import check, read_raw, shipped_recipes
from seqlab.recipes.recipe import Recipe
from seqlab.recipes.sections import KINDS, section_names, settings_of
from tests.check_each import check_each

SCHEMA = recipe_schema()
VALIDATOR = Draft202012Validator(SCHEMA)


def mistakes(recipe: dict[str, Any]) -> list[str]:
    """Where a recipe breaks the schema, as dotted names; the recipe as a whole is an empty name."""
    return [".".join(map(str, error.absolute_path)) for error in VALIDATOR.iter_errors(recipe)]


def entries_of(section: str, kind: str = "") -> dict[str, Any]:
    """The settings of a section in the schema."""
    name = f"{section}.{kind}" if kind else SCHEMA["properties"][section]["$ref"].removeprefix("#/$defs/")
    properties = SCHEMA["$defs"][name]["properties"]
    assert isinstance(properties, dict)
    return properties


def test_the_schema_is_one_of_draft_2020_12() -> None:
    assert SCHEMA["$schema"] == DIALECT
    Draft202012Validator.check_schema(SCHEMA)


@pytest.mark.parametrize("name", shipped_recipes())
def test_a_shipped_recipe_is_valid_as_it_is_and_with_every_default_written_out(name: str) -> None:
    raw = read_raw(name)
    assert mistakes(raw) == []
    assert mistakes(tomllib.loads(check(raw, where=name).to_toml())) == []


@pytest.mark.parametrize(
    ("recipe", "place"),
    [
        ({"trainign": {}}, ""),
        ({"training": {"learning_rat": 0.1}}, "training"),
        ({"training": {"learning_rate": "fast"}}, "training.learning_rate"),
        ({"training": {"optimizer": "adamm"}}, "training.optimizer"),
        ({"task": "clasification"}, "task"),
        ({"task": "tagging", "language_model": {"window": 8}}, "task"),
        ({"language_model": {"windw": 8}}, "language_model"),
        ({"evaluation": {"metrics": ["no_such_metric"]}}, "evaluation.metrics.0"),
        ({"model": "lstn"}, "model"),
        ({"model": {"kind": "transformer", "bidirectional": True}}, "model"),
        ({"model": {"heads": 4}}, "model"),
        ({"model": {"cell": "lstn"}}, "model"),
        ({"model": {"cell": {"kind": "gru", "forget_bias": 1.0}}}, "model"),
        ({"format": 99}, "format"),
    ],
    ids=str,
)
def test_a_mistake_is_found(recipe: dict[str, Any], place: str) -> None:
    assert mistakes(recipe) == [place]


@pytest.mark.parametrize(
    "recipe",
    [
        {},
        {"model": "bilstm"},
        {"training": {"learning_rate": "auto"}},
        {"model": {"hidden_size": 32, "cell": {"forget_bias": 0.5}}},
        {"model": {"cell": "gru", "hidden_sizes": [64, 32]}},
        {"model": {"kind": "transformer", "heads": 2, "positions": "rotary"}},
        {"language_model": {"window": 8}},
        {"task": "language_model", "language_model": {"window": 8}},
    ],
    ids=str,
)
def test_what_seqlab_reads_is_valid(recipe: dict[str, Any]) -> None:
    check(recipe, where="test")
    assert mistakes(recipe) == []


def test_every_setting_is_there_with_its_help_and_its_default() -> None:
    def has_all(place: tuple[str, str]) -> None:
        section, kind = place
        settings = KINDS[section][kind] if kind else settings_of(section)[0]
        entries = entries_of(section, kind)
        assert entries.keys() == settings.model_fields.keys()
        for entry in describe(settings):
            field = settings.model_fields[entry.name]
            assert entries[entry.name].get("description", "") == entry.sentence
            if field.default_factory is None:
                default = default_of(field)
                assert entries[entry.name]["default"] == (
                    list(default) if isinstance(default, tuple) else default
                )

    plain = [(section, "") for section in section_names() if section not in KINDS]
    kinds = [(section, kind) for section in KINDS for kind in KINDS[section]]
    assert len(plain) > 10
    assert {kind for _, kind in kinds} == {*MODEL_KINDS, *CELL_KINDS}
    check_each([*plain, *kinds], has_all)


def test_what_stands_above_the_sections_is_there() -> None:
    assert SCHEMA["properties"].keys() >= Recipe.model_fields.keys()
    assert "classification" in SCHEMA["properties"]["task"]["enum"]
