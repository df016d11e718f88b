"""A masked language model from a file to a folder that fills gaps."""

from __future__ import annotations

import pytest

import seqlab
from seqlab.core.errors import UsageError
from seqlab.runs.find_recipe import find_recipe
from seqlab.runs.report.next_steps import after_training
from seqlab.runs.run import Run
from seqlab.runs.train.prepare import prepare
from seqlab.runs.train.start import train
from tests.runs.toy_runs import write_data

SETTINGS = [
    "model.kind=transformer",
    "model.layers=1",
    "model.hidden_size=12",
    "model.heads=2",
    "tokens.kind=words",
    "masked_language_model.window=9",
    "training.batch_size=9",
    "training.steps=8",
    "training.threads=1",
]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    folder = tmp_path_factory.mktemp("masked")
    recipe, _ = find_recipe(str(write_data("language_model", folder)), SETTINGS, task="masked_language_model")
    return train(prepare(recipe, out=str(folder / "run")))


def test_a_run_is_loaded_again_and_fills_gaps_as_before(run: Run) -> None:
    again = seqlab.load(run.folder)
    before, after = (which.predict(["to be or [MASK] to ___"], top=3) for which in (run, again))
    assert before == after
    assert len(after) == 2
    assert set(again.results) == {"nats_per_masked_token", "perplexity", "accuracy"}


def test_the_scores_are_the_same_when_the_run_is_evaluated_again(run: Run) -> None:
    evaluation = run.evaluate()
    assert [score.value for score in evaluation.scores] == [
        pytest.approx(score.value) for score in run.results.values()
    ]


def test_continuing_text_is_refused_in_words(run: Run) -> None:
    with pytest.raises(UsageError, match="a masked_language_model run does not continue text"):
        run.generate("to be")


def test_the_next_command_asks_about_a_gap_and_the_report_has_scores_curves_and_mistakes(run: Run) -> None:
    assert any(
        "[MASK]" in command and command.startswith("seqlab predict ") for command in after_training(run)
    )
    page = (run.folder / "report.html").read_text(encoding="utf-8")
    for part in ("nats per masked token", "both neighbors", "Accuracy", "Most wrong", "masking"):
        assert part in page
