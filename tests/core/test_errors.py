"""Hints and lists inside messages."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seqlab.core import errors
from seqlab.core.errors import (
    DataError,
    EnvironmentProblem,
    MissingExtra,
    RecipeError,
    SeqlabError,
    closest,
    listed,
    nearest,
    shortened,
)


def test_a_message_says_where_what_and_how_to_mend_it() -> None:
    assert (
        str(DataError("is empty.", where="a.csv, line 3", cure="Add rows."))
        == "a.csv, line 3: is empty.\n  Add rows."
    )
    assert str(DataError("is empty.")) == "is empty."


def test_every_error_has_the_exit_code_that_the_tree_draws() -> None:
    kinds = [
        kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, SeqlabError)
    ]
    assert len(kinds) == 9
    assert {kind.__name__ for kind in kinds if kind.exit_code == 3} == {"EnvironmentProblem"}
    assert all(kind.__name__ in (errors.__doc__ or "") for kind in kinds)
    assert EnvironmentProblem("x").exit_code == 3


def test_a_missing_extra_is_one_command_away() -> None:
    assert (
        str(MissingExtra("pyarrow", extra="data", purpose="Parquet"))
        == "Parquet needs the package 'pyarrow'.\n  pip install 'seqlab[data]'"
    )


@pytest.mark.parametrize(
    ("name", "expected"),
    [("lstn", "lstm"), ("LSTM", "lstm"), ("transfomer", "transformer"), ("gpt", ""), ("", "")],
)
def test_the_nearest_name_is_found_whatever_its_case(name: str, expected: str) -> None:
    assert closest(name, ["gru", "lstm", "rnn", "transformer"]) == expected


def test_few_names_are_all_listed_in_their_order() -> None:
    assert nearest("zzz", ["b", "a"]) == "Available: a, b."
    assert nearest("zzz", []) == "Available: nothing."


def test_of_many_names_the_likeliest_come_first_and_the_rest_is_counted() -> None:
    names = [f"column_{number}" for number in range(500)] + ["target"]
    sentence = nearest("traget", names)
    assert sentence.startswith("Did you mean 'target'? Available: target, ")
    assert sentence.endswith(" and 490 more.")
    assert len(sentence) < 250


@pytest.mark.slow
@given(st.text(max_size=300), st.lists(st.text(max_size=300), max_size=60))
def test_a_hint_is_never_longer_than_a_message_can_bear(name: str, allowed: list[str]) -> None:
    assert len(nearest(name, allowed)) < 1000
    assert closest(name, allowed) in [*allowed, ""]


def test_a_list_of_names_and_a_name_are_cut() -> None:
    assert listed([str(number) for number in range(13)]) == "0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 and 2 more"
    assert shortened("x" * 100, 5) == "xxxx…"


def test_one_mistake_is_a_line_and_several_are_a_list() -> None:
    assert str(RecipeError.of(["a is wrong."], where="r.toml")) == "r.toml: a is wrong."
    assert str(RecipeError.of(["a.", "b."], where="r.toml")) == "r.toml: 2 mistakes.\n  - a.\n  - b."
