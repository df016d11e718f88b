"""Settings that take the name of a registered part."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pydantic import Field, ValidationError

from seqlab.core.errors import RecipeError
from seqlab.core.part_name import PartName
from seqlab.core.registry import Registry
from seqlab.core.settings import Settings, choices_of, describe, expected
from seqlab.metrics.registry import metrics
from seqlab.recipes.overrides import override
from seqlab.recipes.read import check
from seqlab.tokens.registry import tokenizers

datasets: Registry[type] = Registry("dataset", package="seqlab.datasets")


class DatasetName(PartName):
    registry = datasets
    also = ("none",)


class Chosen(Settings):
    one: DatasetName = Field(DatasetName("none"), description="One.")
    several: tuple[DatasetName, ...] = Field((), description="Several.")


@pytest.fixture
def mine() -> Iterator[None]:
    datasets.register("mine")(type("Mine", (), {}))
    yield
    del datasets._parts["mine"]


def test_registered_names_and_the_further_words_are_taken_as_plain_text() -> None:
    chosen = Chosen(one="digits", several=["copy", "none"])
    assert chosen.model_dump() == {"one": "digits", "several": ("copy", "none")}
    assert type(chosen.one) is type(Chosen().one) is str


@pytest.mark.parametrize("value", ["mine", "", "Digits", 3, None])
def test_other_values_are_mistakes(value: object) -> None:
    with pytest.raises(ValidationError):
        Chosen(one=value)
    with pytest.raises(ValidationError):
        Chosen(several=[value])


def test_a_part_that_is_registered_later_can_be_chosen(mine: None) -> None:
    assert Chosen(one="mine", several=["mine"]).one == "mine"
    assert "mine" in choices_of(DatasetName)
    assert describe(Chosen)[0].kind == " | ".join([*datasets.names(), "none"])
    assert expected(Chosen.model_fields["one"]).endswith("stdlib or none")


@pytest.mark.parametrize(
    ("section", "setting", "name"),
    [
        ("tokens", "kind", "syllables"),
        ("training", "optimizer", "lion"),
        ("decoder", "attention", "cosine"),
        ("data", "format", "tickets"),
        ("model", "cell", "leaky"),
    ],
)
def test_a_recipe_with_a_part_that_is_not_loaded_names_it_and_the_option(
    section: str, setting: str, name: str
) -> None:
    with pytest.raises(RecipeError) as caught:
        check({section: {setting: name}}, where="recipe.toml")
    for fact in (f"{section}.{setting}", f"'{name}'", "--plugin FILE"):
        assert fact in str(caught.value)


def test_a_metric_that_is_not_loaded_is_named_with_its_place_in_the_list() -> None:
    with pytest.raises(RecipeError) as caught:
        check({"evaluation": {"metrics": ["kappa"]}}, where="recipe.toml")
    for fact in ("evaluation.metrics", "'kappa'", "entry 1", "--plugin FILE"):
        assert fact in str(caught.value)


def test_the_command_line_takes_names_of_parts_as_text() -> None:
    tokenizers.register("2024")(type("Year", (), {}))
    metrics.register("a")(type("A", (), {}))
    metrics.register("b")(type("B", (), {}))
    try:
        raw = override({}, ["tokens.kind=2024", "evaluation.metrics=a, b"])
        assert check(raw, where="").tokens.kind == "2024"
        assert check(raw, where="").evaluation.metrics == ("a", "b")
    finally:
        for registry, name in ((tokenizers, "2024"), (metrics, "a"), (metrics, "b")):
            del registry._parts[name]
