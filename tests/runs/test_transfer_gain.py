"""What a run is worth to start from: pairs of trainings that differ in their first weights only."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch

from seqlab.core.errors import RecipeError, UsageError
from seqlab.runs.find_recipe import find_recipe
from seqlab.runs.run import Run
from seqlab.runs.train.prepare import prepare
from seqlab.runs.transfer.transfer_gain import ALL, measure_gain
from tests.runs.source_runs import SMALL, hurried, write_table

pytestmark = pytest.mark.slow  # short each, long together


@pytest.mark.spec(112)
def test_new_weights_come_with_the_tokens_and_the_network_of_the_run(
    recurrent_run: Run, tmp_path: Path
) -> None:
    data = write_table(tmp_path)
    models = {}
    for weights in ("new", "learned"):
        words = [*SMALL, "training.steps=4", f"start.weights={weights}"]
        recipe, _ = find_recipe(str(data), words, start=str(recurrent_run.folder))
        with hurried():
            models[weights] = prepare(recipe, out=str(tmp_path / weights))
    new, learned = models["new"], models["learned"]
    assert new.recipe.model == learned.recipe.model
    assert new.recipe.tokens == learned.recipe.tokens
    table = recurrent_run.model.state_dict()["embed.weight"]
    assert torch.equal(learned.model.state_dict()["embed.weight"], table)
    assert new.model.state_dict()["embed.weight"].shape == table.shape
    assert not torch.equal(new.model.state_dict()["embed.weight"], table)
    assert any("with new weights" in reason for reason in new.reasons)


def test_new_weights_have_nothing_to_keep(recurrent_run: Run, tmp_path: Path) -> None:
    with pytest.raises(RecipeError, match=r"start.weights: .*start.freeze"):
        find_recipe(
            str(write_table(tmp_path)),
            ["start.weights=new", "start.freeze=backbone"],
            start=str(recurrent_run.folder),
        )


@pytest.mark.spec(112)
def test_the_gain_is_the_difference_of_both_runs_on_the_same_rows(recurrent_run: Run, tmp_path: Path) -> None:
    data, folder = write_table(tmp_path), tmp_path / "gain"
    settings = [*SMALL, "training.steps=8"]
    with hurried():
        found = measure_gain(str(data), str(recurrent_run.folder), [12, ALL], settings, folder=folder)
    assert [one.called for one in found] == ["12", "all"]
    for one in found:
        runs = {
            weights: Run.load(folder / f"{one.rows or 'all'}-{weights}") for weights in ("new", "learned")
        }
        values = {weights: run.results["accuracy"].value for weights, run in runs.items()}
        assert (one.new.value, one.learned.value) == (values["new"], values["learned"])
        assert one.difference.value == pytest.approx(values["learned"] - values["new"])
        assert len(json.loads((folder / "gain.json").read_text())["gains"]) == 2
    few = Run.load(folder / "12-new")
    assert few.recipe.data.train_rows == 12
    before = (folder / "12-new" / "model.safetensors").stat().st_mtime_ns
    with hurried():
        again = measure_gain(str(data), str(recurrent_run.folder), [12, ALL], settings, folder=folder)
    assert [one.difference for one in again] == [one.difference for one in found]
    assert (folder / "12-new" / "model.safetensors").stat().st_mtime_ns == before, (
        "what is finished is not trained again"
    )


def test_numbers_of_rows_must_differ(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="--rows: the numbers of labeled rows must be positive and distinct"):
        measure_gain("data.csv", "run", [100, 100], [], folder=tmp_path)
