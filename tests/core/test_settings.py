"""What a setting takes, in words."""

from __future__ import annotations

from typing import Annotated, Literal

import pytest
from pydantic import Field, ValidationError

from seqlab.core.settings import Settings, describe, expected, expected_entry, sentence_of


class First(Settings):
    """A part."""

    kind: Literal["first"] = Field("first", description="Which.")


class Second(Settings):
    """Another part.

    More about it.
    """

    kind: Literal["second"] = Field("second", description="Which.")


class Example(Settings):
    """One setting of every kind."""

    count: int = Field(3, ge=1, le=9, description="How many.")
    share: float = Field(1, gt=0, lt=2, description="Which share.")
    plain: float = Field(0, description="Any number.")
    asked: bool = Field(False, description="Whether.")
    name: str = Field("", description="Which one.")
    mark: str = Field("", max_length=1, description="A character.")
    word: str = Field("", max_length=5, description="A word.")
    choice: Literal["", "a", "b"] = Field("", description="One of them.")
    names: tuple[str, ...] = Field((), description="Several.")
    sizes: tuple[Annotated[int, Field(ge=1)], ...] = Field((), max_length=4, description="Some widths.")
    some: tuple[Literal["a", "b"], ...] = Field((), description="Some of them.")


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("count", "a whole number of at least 1 and at most 9"),
        ("share", "a number of more than 0 and less than 2"),
        ("plain", "a number"),
        ("asked", "true or false"),
        ("name", "text"),
        ("mark", "one character"),
        ("word", "text of at most 5 characters"),
        ("choice", "'', a or b"),
        ("names", 'a list of names, such as ["a", "b"] or a,b'),
        ("sizes", "a list of at most 4 whole numbers of at least 1, such as [64, 32] or 64,32"),
        ("some", "a list of the names a, b"),
    ],
)
def test_what_a_setting_takes(name: str, words: str) -> None:
    assert expected(Example.model_fields[name]) == words


@pytest.mark.parametrize(
    ("name", "words"), [("names", "text"), ("sizes", "a whole number of at least 1"), ("some", "a or b")]
)
def test_what_an_entry_of_a_list_takes(name: str, words: str) -> None:
    assert expected_entry(Example.model_fields[name]) == words


def test_settings_of_a_kind_are_called_by_it_and_say_what_they_are() -> None:
    assert (str(Second()), f"{First()}", sentence_of(Second)) == ("second", "first", "Another part.")
    assert "count=3" in str(Example())


def test_help_has_name_kind_default_and_sentence() -> None:
    entries = {entry.name: entry for entry in describe(Example, prefix="example.")}
    assert (
        entries["example.count"].kind,
        entries["example.count"].default,
        entries["example.count"].sentence,
    ) == ("whole number", 3, "How many.")
    assert entries["example.choice"].kind == "a | b"
    assert entries["example.names"].kind == "list of text"
    assert entries["example.sizes"].kind == "list of whole numbers"
    assert [entry.kind for entry in entries.values()][1:5] == ["number", "number", "true | false", "text"]


def test_settings_are_closed_frozen_and_finite() -> None:
    with pytest.raises(ValidationError):
        Example(wheels=4)
    with pytest.raises(ValidationError):
        Example(plain=float("inf"))
    with pytest.raises(ValidationError):
        Example().count = 4


def test_a_default_has_the_type_that_its_setting_says() -> None:
    assert isinstance(Example().share, float)
