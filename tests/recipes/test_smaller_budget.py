"""A smaller budget on top of a recipe: step counts of the recipe shrink with it, those of the command line do
not.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from seqlab.recipes.read import check
from seqlab.recipes.recipe import Recipe
from seqlab.runs.find_recipe import find_recipe
from seqlab.training.settings import TrainingSettings


def training(what: str, *words: str) -> TrainingSettings:
    return find_recipe(what, ["data.train=x", *words])[0].training


def test_fewer_steps_shrink_the_counts_of_a_recipe() -> None:
    found = training("multi30k-gru", "training.steps=900")
    assert (found.steps, found.average_checkpoints, found.average_every, found.evaluate_every) == (
        900,
        8,
        20,
        100,
    )


def test_what_the_command_line_says_is_taken_as_written() -> None:
    found = training("multi30k-gru", "training.average_every=70", "training.steps=900")
    assert (found.average_every, found.evaluate_every) == (70, 100)
    assert found.scale_with_budget == ("evaluate_every",)


def test_more_steps_change_no_count() -> None:
    found = training("multi30k-gru", "training.steps=9000")
    assert (found.average_every, found.evaluate_every) == (100, 500)


def test_without_another_budget_a_recipe_is_what_it_says() -> None:
    for name in ("multi30k-gru", "ud-tagging", "imdb-lecture"):
        assert training(name, "training.learning_rate=0.1").scale_with_budget == ()


def test_minutes_leave_the_counts_to_the_plan() -> None:
    found = training("multi30k-gru", "training.minutes=13")
    assert (found.steps, found.average_every, found.evaluate_every) == (4500, 100, 500)
    assert found.scale_with_budget == ("evaluate_every", "average_every")
    assert training("ud-tagging", "training.minutes=1").scale_with_budget == ("evaluate_every", "ema_decay")


def test_a_recipe_of_epochs_shrinks_too() -> None:
    counts = ("warmup_steps", "decay_steps", "evaluate_every")
    assert training("imdb-lecture", "training.minutes=5").scale_with_budget == counts
    half = training("imdb-lecture", "training.epochs=5")
    assert (half.warmup_steps, half.decay_steps, half.evaluate_every) == (264, 4400, 88)
    few = training(
        "imdb-lecture", "training.steps=100"
    )  # how many epochs this is shows once the data is read
    assert (few.warmup_steps, few.epochs, few.scale_with_budget) == (528, 10, counts)


def test_a_recipe_that_plans_in_minutes_is_taken_as_written(tmp_path: Path) -> None:
    (tmp_path / "own.toml").write_text("[training]\nminutes = 5\nepochs = 30\nwarmup_steps = 100\n")
    assert training(str(tmp_path / "own.toml"), "training.minutes=1").scale_with_budget == ()


def test_settings_for_data_are_taken_as_written(tmp_path: Path) -> None:
    found = training(
        str(tmp_path / "x.csv"), "training.steps=50", "training.minutes=1", "training.warmup_steps=100"
    )
    assert (found.warmup_steps, found.scale_with_budget) == (100, ())


def test_a_saved_recipe_means_the_same_when_it_is_trained_again(tmp_path: Path) -> None:
    first = find_recipe("multi30k-gru", ["data.train=x", "training.minutes=13"])[0]
    (tmp_path / "recipe.toml").write_text(first.to_toml())
    assert training(str(tmp_path / "recipe.toml")) == first.training
    shorter = training(str(tmp_path / "recipe.toml"), "training.minutes=3")
    assert shorter.scale_with_budget == ("evaluate_every", "average_every")


def test_the_list_itself_can_be_chosen() -> None:
    found = training("multi30k-gru", "training.minutes=13", "training.scale_with_budget=average_every")
    assert found.scale_with_budget == ("average_every",)
    assert training("multi30k-gru", "training.steps=900", "training.scale_with_budget=").average_every == 100


@pytest.mark.parametrize("value", ["true", "'many'", "-3", "[4]"])
def test_wrong_values_are_left_to_the_check_of_the_recipe(value: str, tmp_path: Path) -> None:
    path = tmp_path / "own.toml"
    for text in (
        f"steps = {value}\naverage_every = 10",
        f"steps = 10\naverage_every = {value}",
        f"steps = 10\nscale_with_budget = {value}",
    ):
        path.write_text(f"[training]\n{text}\n")
        with pytest.raises(Exception, match=r"training\.") as caught:
            training(str(path), "training.minutes=1")
        assert type(caught.value).__name__ == "RecipeError"


def test_a_section_that_is_no_section_is_left_to_the_check(tmp_path: Path) -> None:
    (tmp_path / "own.toml").write_text("training = 3\n")
    with pytest.raises(Exception, match="training"):
        training(str(tmp_path / "own.toml"), "training.minutes=1")


def test_every_scaled_setting_is_a_setting() -> None:
    names = ["warmup_steps", "decay_steps", "evaluate_every", "ema_decay", "average_every"]
    recipe: Recipe = check({"training": {"scale_with_budget": names}}, where="test")
    assert set(recipe.training.scale_with_budget) <= set(TrainingSettings.model_fields)
