"""The score without what training has seen."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import seqlab
from seqlab.metrics.items import mean_items
from seqlab.metrics.score_with_interval import score_with_interval
from seqlab.metrics.token_stream import BLOCK_TOKENS, TokenStream
from seqlab.pages.sections.leaks import LeakFreeScores
from seqlab.runs.survey.leaks import note_leaks
from seqlab.sources.survey.passages import Repeats
from seqlab.sources.survey.report import PartSurvey, Survey
from seqlab.tasks.evaluation import Evaluation
from seqlab.tasks.evaluator import Evaluator
from tests.runs.test_compare import SMALL, write_notes


def without_leaks(evaluation: Evaluation) -> LeakFreeScores:
    section = evaluation.section(LeakFreeScores)
    assert section is not None
    return section


@pytest.mark.slow
def test_rows_that_training_has_are_left_out_of_a_second_score(tmp_path: Path) -> None:
    train = write_notes(tmp_path / "train.csv")
    fresh = write_notes(tmp_path / "fresh.csv", seed=9, count=40).read_text().splitlines()
    known = train.read_text().splitlines()[1:11]
    (tmp_path / "test.csv").write_text("\n".join([*fresh, *known]) + "\n")
    valid = write_notes(tmp_path / "valid.csv", seed=5, count=20)
    run = seqlab.train(
        train,
        *SMALL,
        f"data.test={tmp_path / 'test.csv'}",
        f"data.valid={valid}",
        model="gru",
        out=tmp_path / "run",
    )
    found = run.results.raw["splits"]["test"]["sections"]["without_leaks"]
    leaked = set((tmp_path / "train.csv").read_text().splitlines()[1:])
    clean = [line.split(",") for line in fresh[1:] if line not in leaked]
    right = [
        prediction.answer == label
        for prediction, (_, label) in zip(run.predict([text for text, _ in clean]), clean, strict=True)
    ]
    assert found["kept"] == len(clean)
    assert found["scores"][0]["name"] == "accuracy"
    assert found["scores"][0]["value"] == pytest.approx(np.mean(right))
    assert any("rows also in training" in warning for warning in run.results.raw["warnings"])


@pytest.mark.parametrize(("known", "left_out"), [([], 0), ([2], 1), ([2, 3], 2)], ids=["none", "some", "all"])
def test_rows_that_training_has_are_told(known: list[int], left_out: int) -> None:
    """A score on nothing but what training has seen must not pass in silence."""

    class Places:
        def locate_items(self, split: str) -> list[tuple[str, int]]:
            return [("a.csv", 2), ("a.csv", 3)]

    items = mean_items(np.array([True, False]))
    evaluation = Evaluation("test", [score_with_interval("accuracy", items)], [], {"accuracy": items})
    survey = Survey({"test": PartSurvey()}, [], {"test": {("a.csv", line) for line in known}})
    sentence = note_leaks(evaluation, Places(), survey)  # type: ignore[arg-type] # nothing else of an evaluator is asked for
    details = evaluation.sections_as_json().get("without_leaks", {"left_out": 0})
    assert details["left_out"] == left_out
    if left_out == 2:
        assert sentence == "test: all of it is also in training; the score says nothing about new data"
        assert without_leaks(evaluation).describe() == sentence
    elif left_out:
        assert sentence.startswith("test: without the 1 row also in training, 1 is left: accuracy 0.0000")
    else:
        assert sentence == ""


def test_a_score_stands_beside_itself_and_not_beside_the_first() -> None:
    """The first score has other items, such as words instead of rows."""

    class Places:
        def locate_items(self, split: str) -> list[tuple[str, int]]:
            return [("a.csv", line) for line in (2, 3, 4)]

    words, rows = mean_items(np.array([True, True])), mean_items(np.array([False, True, False]))
    items = {"accuracy_of_words": words, "accuracy": rows}
    evaluation = Evaluation(
        "test", [score_with_interval(name, own) for name, own in items.items()], [], {**items}
    )
    sentence = note_leaks(evaluation, Places(), Survey({"test": PartSurvey()}, [], {"test": {("a.csv", 2)}}))  # type: ignore[arg-type] # as above
    assert "2 are left: accuracy 0.5000" in sentence
    assert sentence.endswith("0.3333 on all")


def test_blocks_of_a_text_of_which_half_is_known_are_left_out() -> None:
    """Thirty blocks of letters, of which the second stands in train."""
    num_letters = 30 * BLOCK_TOKENS
    log_probs = -np.repeat([2.0, 0.1, *[3.0] * 27, 4.0], BLOCK_TOKENS)
    stream = TokenStream.from_log_probs(log_probs, np.ones(num_letters), characters=num_letters)
    items = stream.items()
    evaluation = Evaluation(
        "test", [score_with_interval("nats_per_token", items["nats_per_token"])], [], items, stream=stream
    )
    starts = np.arange(BLOCK_TOKENS, 2 * BLOCK_TOKENS)
    repeats = Repeats(1 / 30, num_letters, 1.0, starts=starts, looked_at=np.arange(num_letters))
    sentence = note_leaks(evaluation, Evaluator, Survey({"test": PartSurvey(repeats=repeats)}, []))  # type: ignore[arg-type] # no row is asked for
    assert evaluation.sections_as_json()["without_leaks"]["left_out"] == 1
    assert evaluation.sections_as_json()["without_leaks"]["scores"][0]["value"] == pytest.approx(3.0)
    assert (
        "without the 1 block of 512 tokens also in training, 29 are left: nats_per_token 3.0000" in sentence
    )
