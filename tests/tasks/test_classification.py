"""The classification task: what it chooses, what it scores, which rows it shows."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from sklearn.metrics import accuracy_score, f1_score, log_loss
from torch import nn

from seqlab.core.errors import DataError
from seqlab.recipes.read import check
from seqlab.runs.data import open_data
from seqlab.tasks.classification.scores import calibration_score
from seqlab.tasks.labeled.class_predictions import ClassPredictions, predict_classes
from seqlab.tasks.labeled.whole_sequence import outputs_of
from seqlab.tasks.spec import find_spec
from tests.tasks.encoded_task import EncodedTask, encode_task

ROWS = [
    ("a fine day", "good"),
    ("rain, rain, rain", "bad"),
    ("what a lovely morning it was", "good"),
    ("cold", "bad"),
    ("sun at last", "good"),
    ("grey and wet and grey", "bad"),
    ("so so", "fair"),
    ("neither nor", "fair"),
]


def make(folder: Path, rows: list[tuple[str, str]] = ROWS, **settings: object) -> EncodedTask:
    for name in ("train", "valid", "test"):
        (folder / f"{name}.csv").write_text(
            "text,label\n" + "".join(f'"{text}",{label}\n' for text, label in rows)
        )
    data = {name: str(folder / f"{name}.csv") for name in ("train", "valid", "test")}
    recipe = check(
        {"data": {**data, **settings}, "model": {"kind": "recurrent", "hidden_size": 7, "cell": "gru"}},
        where="test",
    )
    opened = open_data(recipe)
    recipe, _ = find_spec("classification").fill_defaults(opened.recipe, opened.parts["train"])
    task = encode_task(recipe, opened.parts)
    torch.manual_seed(3)
    return task


def predictions_for(task: EncodedTask, model: nn.Module, name: str) -> ClassPredictions:
    split = task.splits[name]
    return predict_classes(outputs_of(model, task.codec, split), split, temperature=1.0)


def test_the_scores_are_those_of_scikit_learn(tmp_path: Path) -> None:
    task = make(tmp_path)
    model = task.build_model().eval()
    predictions = predictions_for(task, model, "test")
    scores = {score.name: score for score in task.evaluate(model, "test").scores}
    targets = [task.codec.labels.names.index(label) for _, label in ROWS]
    assert predictions.targets.tolist() == targets
    assert scores["accuracy"].value == pytest.approx(accuracy_score(targets, predictions.predicted))
    assert scores["macro_f1"].value == pytest.approx(
        f1_score(targets, predictions.predicted, average="macro", zero_division=0)
    )
    assert scores["loss"].value == pytest.approx(
        log_loss(targets, np.exp(predictions.log_probs), labels=[0, 1, 2]), rel=1e-5
    )
    assert scores["accuracy"].low is None  # of six rows there is no interval


def test_answers_stand_in_the_order_of_the_file_and_equal_those_of_each_row_alone(tmp_path: Path) -> None:
    task = make(tmp_path)
    model = task.build_model().eval()
    predictions = predictions_for(task, model, "test")
    for place, (text, _) in enumerate(ROWS):
        alone = task.predictor(model).predict([text], top=3)[0]
        best = int(predictions.log_probs[place].argmax())
        assert alone.answer == task.codec.labels.names[best]
        assert alone.probability == pytest.approx(float(np.exp(predictions.log_probs[place, best])), abs=1e-6)
        assert sum(share for _, share in alone.ranking) == pytest.approx(1, abs=1e-6)


class AlwaysTheFirst(nn.Module):
    """Sure of class 0, whatever it is asked."""

    def __init__(self) -> None:
        super().__init__()
        self.sure = nn.Parameter(torch.tensor([5.0, 0.0, 1.0]))

    def forward(self, inputs: torch.Tensor, is_token: torch.Tensor) -> torch.Tensor:
        return self.sure.expand(len(inputs), 3)


def test_the_surest_mistakes_are_shown_with_their_text_and_line_even_when_rows_were_skipped(
    tmp_path: Path,
) -> None:
    rows = [("  ", "good"), *ROWS[:3], ("no label", ""), *ROWS[3:]]
    task = make(tmp_path, rows, bad_rows="skip")
    assert len(task.splits["test"]) == len(ROWS)
    test = open_data(task.recipe).parts["test"]
    list(test.rows())
    assert "skipped 2 of 10 rows" in test.bad_rows.sentence()
    assert "test.csv, line 2: column 'text' has no text" in test.bad_rows.sentence()
    wrong = task.evaluate(AlwaysTheFirst(), "test").sections_as_json()["most_wrong"]["examples"]
    assert [entry["truth"] for entry in wrong] == ["fair"] * 2 + [
        "good"
    ] * 3  # classes: bad, fair, good; fair is the least likely
    shown = {entry["text"]: int(entry["where"].rpartition("line ")[2]) for entry in wrong}
    assert shown == {
        "so so": 10,
        "neither nor": 11,
        "a fine day": 3,
        "what a lovely morning it was": 5,
        "sun at last": 8,
    }


def test_rows_that_a_file_loses_belong_to_no_part_and_are_counted_once(tmp_path: Path) -> None:
    rows = (
        [f"day {number},{'good' if number % 2 else 'bad'}" for number in range(40)]
        + [f"night {number}," for number in range(30)]
        + ["ragged"]
    )
    (tmp_path / "all.csv").write_text("\n".join(["text,label", *rows]) + "\n")
    opened = open_data(
        check(
            {"data": {"train": str(tmp_path / "all.csv"), "bad_rows": "skip"}, "task": "classification"},
            where="test",
        )
    )
    recipe, _ = find_spec("classification").fill_defaults(opened.recipe, opened.parts["train"])
    task = encode_task(recipe, opened.parts)
    assert sum(len(split) for split in task.splits.values()) == 40
    assert all(len(task.splits[name]) == len(list(source.rows())) for name, source in opened.parts.items())
    assert {source.bad_rows.count for source in opened.parts.values()} == {31}
    assert not task.notes


def test_a_label_that_training_never_saw_is_refused_with_its_line(tmp_path: Path) -> None:
    task = make(tmp_path)
    (tmp_path / "test.csv").write_text("text,label\nfine,good\nfine,god\n")
    with pytest.raises(
        DataError,
        match=r"(?s)test\.csv, line 3.*'god' does not occur in the training data.*Did you mean 'good'",
    ):
        task.codec.encode_split("test", open_data(task.recipe).parts["test"])


def test_one_class_only_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"(?s)every row has the same label 'good'.*data\.label=NAME"):
        make(tmp_path, [("a b c", "good")] * 5, text="text", label="label")


def test_short_texts_are_read_by_letters_and_long_ones_by_words(tmp_path: Path) -> None:
    assert make(tmp_path).recipe.tokens.kind == "characters"
    long = [(f"{text} and much more was said about it that day", label) for text, label in ROWS]
    assert make(tmp_path, long).recipe.tokens.kind == "words"


def test_the_baseline_is_naive_bayes_learned_from_the_training_part(tmp_path: Path) -> None:
    task = make(tmp_path)
    accuracy = task.evaluate(task.build_model().eval(), "test").scores[0]
    assert accuracy.baseline_name.startswith("naive Bayes on ")
    assert accuracy.baseline == 1.0  # it has seen these very rows


@pytest.mark.spec(42)
def test_the_mean_of_batch_accuracies_stands_beside_the_exact_accuracy(tmp_path: Path) -> None:
    task = make(tmp_path)
    task = task.with_recipe(task.recipe.changed("training", batch_size=5))
    model = AlwaysTheFirst()
    assert "batch_mean_accuracy" not in task.evaluate(model, "test").sections_as_json()  # only on request
    task = task.with_recipe(task.recipe.changed("evaluation", batch_mean_accuracy=True))
    evaluation = task.evaluate(model, "test")
    assert evaluation.scores[0].value == pytest.approx(3 / 8)
    assert evaluation.sections_as_json()["batch_mean_accuracy"]["value"] == pytest.approx((2 / 5 + 1 / 3) / 2)


@pytest.mark.parametrize("temperature", [1.0, 2.0])
def test_the_calibration_error_is_told_beside_the_one_before_temperature_scaling(temperature: float) -> None:
    probability = np.array([[0.9, 0.1]] * 20)
    targets = np.array([0] * 14 + [1] * 6)
    before, after = (
        ClassPredictions(targets, np.log(shares))
        for shares in (probability, probability ** (1 / temperature))
    )
    score = calibration_score(after, before, temperature=temperature)
    assert ("0.2000" in score.note) == (temperature != 1.0)  # |0.9 - 14 / 20|
