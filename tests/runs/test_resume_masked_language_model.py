"""A masked language model that was stopped goes on as if nothing had happened: its masks come from the step,
not from chance.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from seqlab.runs.find_recipe import find_recipe
from seqlab.runs.train.prepare import prepare
from seqlab.runs.train.start import Interrupted, resume, train
from seqlab.training.base import NullCallback, StepReport
from tests.runs.toy_runs import fingerprint, write_data

SETTINGS = [
    "task=masked_language_model",
    "model.kind=transformer",
    "model.layers=1",
    "model.hidden_size=12",
    "model.heads=2",
    "model.dropout=0.2",
    "tokens.kind=words",
    "masked_language_model.window=9",
    "training.batch_size=9",
    "training.steps=23",
    "training.evaluate_every=6",
    "masked_language_model.mlm_probability=0.4",
    "training.threads=1",
]


class Impatient(NullCallback):
    """Asks to stop after a few steps, as Ctrl-C does."""

    def __init__(self, after: int) -> None:
        self.left = after

    def on_step(self, report: StepReport) -> None:
        self.left -= 1
        if self.left == 0:
            raise KeyboardInterrupt


@pytest.mark.slow
@pytest.mark.spec(172)
@pytest.mark.parametrize("dynamic", [True, False])
def test_a_run_that_was_stopped_in_its_second_epoch_ends_with_the_same_bits(
    tmp_path: Path, dynamic: bool
) -> None:
    data = write_data("language_model", tmp_path)
    folders = {name: tmp_path / name for name in ("whole", "stopped")}
    for name, folder in folders.items():
        recipe, _ = find_recipe(
            str(data), [*SETTINGS, f"masked_language_model.dynamic_masking={str(dynamic).lower()}"]
        )
        prepared = prepare(recipe, out=str(folder))
        assert prepared.forecast is not None
        assert prepared.forecast.steps_per_epoch < 14
        if name == "whole":
            train(prepared)
        else:
            with pytest.raises(Interrupted):
                train(prepared, callback=Impatient(after=15))
            resume(folder)
    assert fingerprint(folders["stopped"]) == fingerprint(folders["whole"])
