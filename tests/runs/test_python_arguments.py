"""What `train`, `predict` and `evaluate` accept from Python, and what they refuse with a sentence."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import seqlab
from seqlab.core.errors import SeqlabError, UsageError
from seqlab.runs.run import Run
from tests.cli.tiny_pairs import train_tiny, write_pairs

pytestmark = pytest.mark.slow  # two trainings


@pytest.fixture(scope="module")
def classifier(tmp_path_factory: pytest.TempPathFactory) -> Run:
    rows = [{"message": f"{word} {number}", "kind": word} for number in range(30) for word in ("yes", "no")]
    return seqlab.train(rows, model="gru", steps=1, out=tmp_path_factory.mktemp("run") / "c", verbose=False)


@pytest.fixture(scope="module")
def translator(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return train_tiny(write_pairs(tmp_path_factory.mktemp("pairs")), "run", steps=1)


@pytest.fixture(params=["classifier", "translator"])
def run(request: pytest.FixtureRequest) -> Run:
    return request.getfixturevalue(request.param)


@pytest.mark.parametrize("inputs", ["a text", b"bytes", {"message": "a"}, None, 3], ids=repr)
def test_what_is_no_list_is_refused_with_an_example(run: Run, inputs: Any) -> None:
    with pytest.raises(UsageError, match="list") as error:
        run.predict(inputs)
    assert "run.predict([" in str(error.value)


@pytest.mark.parametrize("value", [3, None, b"bytes", ["a", "b"]], ids=repr)
def test_an_input_that_is_no_text_is_refused_with_its_number(run: Run, value: Any) -> None:
    with pytest.raises(SeqlabError) as error:
        run.predict(["a", value])
    assert "2" in str(error.value)
    assert "text" in str(error.value)


@pytest.mark.parametrize("top", [0, -1, "3", 1.5, True], ids=repr)
def test_top_is_a_positive_whole_number(run: Run, top: Any) -> None:
    with pytest.raises(UsageError, match="top") as error:
        run.predict(["a"], top=top)
    assert repr(top) in str(error.value)


def test_generators_arrays_and_tables_are_accepted(classifier: Run, tmp_path: Path) -> None:
    texts = ["yes 3", "no 4"]
    expected = classifier.predict(texts)
    assert classifier.predict(text for text in texts) == expected
    assert classifier.predict(tuple(texts)) == expected
    assert classifier.predict([{"message": text} for text in texts]) == expected


def test_evaluate_takes_tables_and_names_other_types(classifier: Run, tmp_path: Path) -> None:
    rows = [
        {"message": f"{word} {number}", "kind": word} for number in range(40, 50) for word in ("yes", "no")
    ]
    file = tmp_path / "more.csv"
    file.write_text(
        "message,kind\n" + "".join(f"{row['message']},{row['kind']}\n" for row in rows), encoding="utf-8"
    )
    of_file = {score.name: score.value for score in classifier.evaluate(file).scores}
    of_table = {score.name: score.value for score in classifier.evaluate(rows).scores}
    assert of_table == of_file
    assert of_table["loss"] > 0
    with pytest.raises(UsageError, match="int"):
        classifier.evaluate(3)


def test_training_without_rows_or_on_something_else_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="empty"):
        seqlab.train([], out=tmp_path / "run")
    with pytest.raises(UsageError, match="int"):
        seqlab.train(3, out=tmp_path / "run")


def test_a_section_can_be_given_as_a_dict(tmp_path: Path) -> None:
    rows = [{"text": f"{word} {number}", "label": word} for number in range(20) for word in ("a", "b")]
    run = seqlab.train(
        rows, model="gru", training={"steps": 2, "seed": 5}, out=tmp_path / "run", verbose=False
    )
    assert (run.recipe.training.steps, run.recipe.training.seed) == (2, 5)
    with pytest.raises(SeqlabError, match="stepz"):
        seqlab.train(rows, training={"stepz": 2}, out=tmp_path / "other")
