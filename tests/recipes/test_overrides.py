"""KEY=VALUE words and --model on top of a recipe."""

from __future__ import annotations

from typing import Any

import pytest

from seqlab.cells.settings import cell_settings
from seqlab.core.errors import UsageError
from seqlab.core.settings import Settings
from seqlab.models.settings.recurrent import RecurrentSettings
from seqlab.recipes.read import check, override
from seqlab.recipes.recipe import Recipe


def recipe(*assignments: str, model: str = "", raw: dict[str, Any] | None = None) -> Recipe:
    return check(override(raw or {}, assignments, model=model), where="settings")


@pytest.mark.parametrize(
    ("word", "section", "name", "value"),
    [
        ("training.steps=500", "training", "steps", 500),
        ("training.steps=1_000", "training", "steps", 1000),
        (" training.steps =5", "training", "steps", 5),
        ("training.learning_rate=1e-4", "training", "learning_rate", 1e-4),
        ("training.group_by_length=false", "training", "group_by_length", False),
        ("training.group_by_length=False", "training", "group_by_length", False),
        ("data.features=open,close", "data", "features", ("open", "close")),
        ("data.features=open", "data", "features", ("open",)),
        ("data.features=1,2", "data", "features", ("1", "2")),
        ('data.features=["a b", "c,d"]', "data", "features", ("a b", "c,d")),
        ("data.features=", "data", "features", ()),
        ("data.train=my file (2).csv", "data", "train", "my file (2).csv"),
        ('data.train="my file.csv"', "data", "train", "my file.csv"),
        ("data.train=a=b.csv", "data", "train", "a=b.csv"),
        ("data.train=2024-01-01", "data", "train", "2024-01-01"),
        ("data.train=C:\\temp\\x.csv", "data", "train", "C:\\temp\\x.csv"),
        ("data.train=one\ntwo = 3", "data", "train", "one\ntwo = 3"),
        ("data.label=1", "data", "label", "1"),
        ("data.label=true", "data", "label", "true"),
        ("data.label=[x]", "data", "label", "[x]"),
        ("data.label=nan", "data", "label", "nan"),
        ("data.delimiter=,", "data", "delimiter", ","),
        ("data.delimiter=#", "data", "delimiter", "#"),
        (r"data.delimiter=\t", "data", "delimiter", "\t"),
        (r'data.delimiter="\t"', "data", "delimiter", "\t"),
        ("tokens.kind=bpe", "tokens", "kind", "bpe"),
        ("model.hidden_size=7", "model", "hidden_size", 7),
        ("model.hidden_sizes=[64, 32]", "model", "hidden_sizes", (64, 32)),
        ("model.hidden_sizes=64,32", "model", "hidden_sizes", (64, 32)),
        ("model.hidden_sizes=64", "model", "hidden_sizes", (64,)),
        ("model.hidden_sizes=", "model", "hidden_sizes", ()),
        ("model.merge=learned", "model", "merge", "learned"),
    ],
)  # fmt: skip
def test_a_word_becomes_the_value_that_its_setting_wants(
    word: str, section: str, name: str, value: object
) -> None:
    assert getattr(getattr(recipe(word), section), name) == value


def test_the_last_word_wins_and_the_recipe_below_stays_as_it_was() -> None:
    raw = {"training": {"steps": 3, "seed": 9}}
    changed = recipe("training.steps=4", "training.steps=5", raw=raw)
    assert (changed.training.steps, changed.training.seed) == (5, 9)
    assert raw == {"training": {"steps": 3, "seed": 9}}


@pytest.mark.parametrize("word", ["reviews.csv", "=5", "training.=5", ""])
def test_a_word_that_sets_nothing_is_refused_with_an_example(word: str) -> None:
    with pytest.raises(UsageError) as caught:
        recipe(word)
    assert "is not of the form KEY=VALUE" in str(caught.value)
    assert "training.steps=500" in str(caught.value)


def test_a_setting_without_parts_has_no_part() -> None:
    with pytest.raises(UsageError, match=r"'task' is a setting.*'x'"):
        recipe("task=classification", "task.x=3")


def test_a_value_nested_too_deeply_is_text_like_any_other() -> None:
    with pytest.raises(
        Exception, match=r"training.steps: expected a whole number of at least 0, found '\[\[\["
    ):
        recipe("training.steps=" + "[" * 50_000)


@pytest.mark.parametrize(
    ("model", "kind", "cell", "bidirectional"),
    [
        ("rnn", "recurrent", "rnn", False),
        ("lstm", "recurrent", "lstm", False),
        ("gru", "recurrent", "gru", False),
        ("bilstm", "recurrent", "lstm", True),
        ("bigru", "recurrent", "gru", True),
        ("peephole_lstm", "recurrent", "peephole_lstm", False),
        ("min_gru", "recurrent", "min_gru", False),
        ("cnn", "convolutional", None, None),
        ("transformer", "transformer", None, None),
    ],
)
def test_short_names_stand_for_models_as_an_option_a_word_or_in_a_recipe(
    model: str, kind: str, cell: str | None, bidirectional: bool | None
) -> None:
    for found in (recipe(model=model), recipe(f"model={model}"), recipe(raw={"model": model})):
        assert found.model.kind == kind
        assert getattr(getattr(found.model, "cell", None), "kind", None) == cell
        assert getattr(found.model, "bidirectional", None) == bidirectional


def test_a_short_name_keeps_the_sizes_of_the_same_kind_and_drops_those_of_another() -> None:
    raw = {"model": {"kind": "recurrent", "cell": "lstm", "bidirectional": True, "hidden_size": 24}}
    gru = recipe(model="gru", raw=raw).model
    assert (str(gru.cell), gru.bidirectional, gru.hidden_size) == ("gru", False, 24)
    assert recipe(model="transformer", raw=raw).model.hidden_size == 128


def test_words_come_after_the_short_name() -> None:
    assert recipe("model.hidden_size=12", model="cnn").model.hidden_size == 12


def test_an_unknown_short_name_gets_the_nearest() -> None:
    with pytest.raises(UsageError) as caught:
        recipe(model="LSTMs")
    assert "--model: there is no model called 'LSTMs'" in caught.value.message
    assert "Did you mean 'lstm'?" in str(caught.value)


@pytest.mark.parametrize(
    ("raw", "words", "cell"),
    [
        ({}, ["model.cell=gru"], cell_settings("gru")()),
        ({}, ["model.cell.kind=gru"], cell_settings("gru")()),
        ({}, ["model.cell.forget_bias=0.5"], cell_settings("lstm")(forget_bias=0.5)),
        ({}, ['model.cell={kind = "lstm", forget_bias = 0.5}'], cell_settings("lstm")(forget_bias=0.5)),
        (
            {},
            ["model.cell.forget_bias=0.5", "model.cell=coupled_lstm"],
            cell_settings("coupled_lstm")(forget_bias=0.5),
        ),
        (
            {},
            ["model.cell.gates=forget,output", "model=peephole_lstm"],
            cell_settings("peephole_lstm")(gates=("forget", "output")),
        ),
        ({}, ["model.cell.gates=", "model.cell=peephole_lstm"], cell_settings("peephole_lstm")(gates=())),
        ({"model": {"cell": "gru"}}, ["model.cell.keep=new"], cell_settings("gru")(keep="new")),
        ({"model": "gru"}, ["model.cell.keep=new"], cell_settings("gru")(keep="new")),
        (
            {"model": {"cell": {"kind": "lstm", "forget_bias": 3.0, "candidate": "sigmoid"}}},
            ["model.cell=lstm"],
            cell_settings("lstm")(),
        ),
    ],
)
def test_a_cell_is_chosen_and_set_by_dotted_names(
    raw: dict[str, Any], words: list[str], cell: Settings
) -> None:
    assert recipe(*words, raw=raw).model.cell == cell


def test_another_kind_of_cell_keeps_the_options_of_the_recipe_that_it_has_too() -> None:
    raw = {"model": {"cell": {"kind": "lstm", "forget_bias": 3.0, "candidate": "sigmoid"}}}
    assert recipe("model.cell.kind=peephole_lstm", raw=raw).model.cell == cell_settings("peephole_lstm")(
        forget_bias=3.0
    )
    assert raw == {"model": {"cell": {"kind": "lstm", "forget_bias": 3.0, "candidate": "sigmoid"}}}


def test_a_short_name_starts_with_the_defaults_of_its_cell() -> None:
    raw = {"model": {"cell": {"kind": "lstm", "forget_bias": 3.0}, "layers": 2}}
    assert recipe(model="lstm", raw=raw).model == RecurrentSettings(layers=2)
