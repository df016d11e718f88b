"""A run with a bag of n-grams: what it counted is in its weights, and a run that goes on does not count
again.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from seqlab.models.ngram_bag import NGramBag
from seqlab.runs.find_recipe import find_recipe
from seqlab.runs.run import Run
from seqlab.runs.train.prepare import Prepared, prepare
from seqlab.runs.train.start import Interrupted, resume, train
from seqlab.training.base import NullCallback, StepReport

WORDS = [
    "bag.n_grams=2",
    "tokens.kind=words",
    "model.kind=convolutional",
    "model.layers=1",
    "model.hidden_size=6",
    "training.batch_size=8",
    "training.steps=12",
    "training.evaluate_every=4",
    "training.threads=1",
    "data.test_share=0",
]


pytestmark = pytest.mark.slow


class Stopping(NullCallback):
    """Ends a run after some updates, as a second Ctrl-C does."""

    def __init__(self, step: int) -> None:
        self.step = step

    def on_step(self, report: StepReport) -> None:
        if report.step == self.step:
            raise KeyboardInterrupt


def write_notes(folder: Path) -> Path:
    """Order decides: `not good` and `good` beside the same other words."""
    path = folder / "notes.csv"
    lines = [
        f"{'it was not good at all' if row % 2 else 'at all it was good not'} day"
        f" {row},{'bad' if row % 2 else 'fine'}"
        for row in range(60)
    ]
    path.write_text("text,label\n" + "\n".join(lines) + "\n", encoding="utf-8")
    return path


def prepared(data: Path, folder: Path, *more: str) -> Prepared:
    return prepare(find_recipe(str(data), [*WORDS, *more])[0], out=str(folder))


def test_a_resumed_run_counts_nothing_and_ends_with_the_same_bits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = write_notes(tmp_path)
    whole = train(prepared(data, tmp_path / "whole"))
    with pytest.raises(Interrupted):
        train(prepared(data, tmp_path / "parts"), callback=Stopping(6))

    def refuse(*_: Any) -> None:
        raise AssertionError("counted again")

    monkeypatch.setattr(NGramBag, "fit_counts", refuse)
    parts = resume(tmp_path / "parts")
    for name, tensor in whole.model.state_dict().items():
        assert torch.equal(tensor, parts.model.state_dict()[name]), name
    bag = Run.load(tmp_path / "parts").model.bag
    assert isinstance(bag, NGramBag)
    assert bag.ratios.any()


def test_a_bag_alone_learns_what_single_words_cannot_say(tmp_path: Path) -> None:
    run = train(prepared(write_notes(tmp_path), tmp_path / "bag", "model=bag", "training.learning_rate=0.01"))
    assert run.results["accuracy"].value == 1.0
    assert run.predict(["it was not good at all", "at all it was good not"])[0].answer == "bad"
    with pytest.raises(Exception, match="does not provide vectors"):
        run.vectors(["it was"])
