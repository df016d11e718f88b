"""What a classifier of words is when nobody says anything."""

from __future__ import annotations

from pathlib import Path

import pytest

from seqlab.runs.data import open_data
from seqlab.runs.find_recipe import find_recipe
from seqlab.tasks.spec import find_spec
from seqlab.tasks.text.defaults import Texts, with_bag_defaults, with_default_network

SENTENCE = "this is a text that is neither very short nor long"


def completed(
    folder: Path, *words: str, rows: int = 30, text: str = SENTENCE
) -> tuple[dict[str, object], list[str]]:
    """What the task makes of a table, as plain data."""
    path = folder / "notes.csv"
    path.write_text(
        "text,label\n" + "".join(f"{text} {row},{'12'[row % 2]}\n" for row in range(rows)), encoding="utf-8"
    )
    opened = open_data(find_recipe(str(path), list(words))[0])
    recipe, reasons = find_spec(opened.recipe.task).fill_defaults(opened.recipe, opened.parts["train"])
    return recipe.model_dump(), reasons


@pytest.mark.parametrize(
    ("texts", "kind", "n_grams", "epochs", "why"),
    [
        (Texts(500, 50_000), "n_gram_bag", 0, 20, "few texts"),
        (Texts(22_500, 30_000_000), "n_gram_bag", 0, 2, "long texts"),
        (Texts(11_756, 1_200_000), "recurrent", 2, 3, "with a bag of 2-grams"),
        (Texts(200_000, 20_000_000), "recurrent", 2, 2, "with a bag of 2-grams"),
    ],
)
def test_the_network_follows_number_and_length_of_the_texts(
    texts: Texts, kind: str, n_grams: int, epochs: int, why: str
) -> None:
    recipe, reason = with_default_network(find_recipe("languages", ["tokens.kind=words"])[0], texts)
    recipe = with_bag_defaults(recipe, texts)
    assert (recipe.model.kind, recipe.bag.n_grams, recipe.training.epochs, recipe.training.minutes) == (
        kind,
        n_grams,
        epochs,
        3,
    )
    assert why in reason
    assert recipe.bag.max_features & (recipe.bag.max_features - 1) == 0


def test_a_table_of_few_texts_is_given_a_bag_and_told_so(tmp_path: Path) -> None:
    recipe, reasons = completed(tmp_path)
    assert recipe["model"] == {"kind": "n_gram_bag"}
    assert "a bag of n-grams (few texts); use --model bilstm for a network" in reasons


def test_what_somebody_says_stays(tmp_path: Path) -> None:
    recipe, _ = completed(tmp_path, "model=lstm")
    assert recipe["bag"] == {"n_grams": 0, "max_features": 0, "min_df": 2}
    recipe, _ = completed(tmp_path, "model=bag", "bag.max_features=100", "bag.n_grams=4", "training.steps=7")
    assert recipe["bag"] == {"n_grams": 4, "max_features": 100, "min_df": 2}
    assert isinstance(training := recipe["training"], dict)
    assert (training["steps"], training["epochs"], training["minutes"]) == (7, 0, 0)


def test_letters_and_numbers_to_foresee_have_no_bag(tmp_path: Path) -> None:
    recipe, _ = completed(tmp_path, text="short")
    assert isinstance(model := recipe["model"], dict)
    assert (model["kind"], model["bidirectional"], model["hidden_size"]) == ("recurrent", True, 128)
    recipe, _ = completed(tmp_path, "task=regression")
    assert isinstance(model := recipe["model"], dict)
    assert model["kind"] == "convolutional"


def test_that_texts_are_cut_is_said_where_any_is_long_enough(tmp_path: Path) -> None:
    def is_said(text: str) -> bool:
        return any("data.max_length" in reason for reason in completed(tmp_path, text=text)[1])

    assert not is_said(SENTENCE)
    assert is_said(f"{SENTENCE} " * 400)
    words, longest = SENTENCE.split(), 512
    text = " ".join(words * (longest // len(words) - 1))  # fewer words than that, and more characters
    assert len(text) > longest
    assert not is_said(text)
