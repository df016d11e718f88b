"""Tasks that answer once for a sequence: weights of classes, several labels, numbers, several columns,
choices made on validation data.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from sklearn.metrics import f1_score, log_loss, mean_squared_error, roc_auc_score
from torch import nn
from torch.nn import functional as F

from seqlab.baselines.naive_bayes import NaiveBayes
from seqlab.baselines.ridge import Ridge
from seqlab.core.errors import DataError, RecipeError
from seqlab.recipes.read import check
from seqlab.runs.data import open_data, open_further_data
from seqlab.tasks.labeled.class_predictions import predict_classes
from seqlab.tasks.labeled.whole_sequence import outputs_of
from seqlab.tasks.spec import find_spec
from tests.tasks.encoded_task import EncodedTask, encode_task

TEXTS = [f"text {'fine' * (i % 3)} number {i} of some" for i in range(24)]


def make(
    folder: Path, rows: list[dict[str, Any]], *, data: dict[str, Any] | None = None, **sections: Any
) -> EncodedTask:
    for name in ("train", "valid", "test"):
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    paths = {name: str(folder / f"{name}.jsonl") for name in ("train", "valid", "test")}
    model = {"kind": "recurrent", "hidden_size": 7, "cell": "gru"}
    opened = open_data(check({"data": {**paths, **(data or {})}, "model": model, **sections}, where="test"))
    spec = find_spec(opened.recipe.task)
    spec.check_ignored(opened.recipe)
    recipe, _ = spec.fill_defaults(opened.recipe, opened.parts["train"])
    task = encode_task(recipe, opened.parts)
    torch.manual_seed(3)
    return task


def shaken(task: EncodedTask) -> nn.Module:
    """A network whose answers differ from row to row."""
    model = task.build_model().eval()
    nn.init.normal_(model.head.weight, std=2.0)
    return model


SKEWED = [
    {"text": text, "label": "rare" if i == 3 else "some" if i < 6 else "usual"}
    for i, text in enumerate(TEXTS)
]


def test_balanced_classes_give_the_weighted_mean_of_torch_however_a_batch_is_cut(tmp_path: Path) -> None:
    task = make(tmp_path, SKEWED, classification={"class_weights": "balanced"})
    model = shaken(task).double()
    weights = torch.tensor([24 / (3 * 1), 24 / (3 * 5), 24 / (3 * 18)], dtype=torch.float64)
    batch = task.codec.collate(task.splits["train"], np.arange(24))
    whole = task.objective().loss(model, batch, step=0, carry=())
    expected = F.cross_entropy(model(batch.inputs, batch.is_token), batch["label"], weight=weights)
    torch.testing.assert_close(whole.total / whole.count, expected, rtol=1e-6, atol=0)
    batches = [
        task.codec.collate(task.splits["train"], np.arange(start, start + 6)) for start in range(0, 24, 6)
    ]
    parts = [task.objective().loss(model, batch, step=0, carry=()) for batch in batches]
    for batch, part in zip(batches, parts, strict=True):  # weights that do not add up to the number of rows
        mean = F.cross_entropy(model(batch.inputs, batch.is_token), batch["label"], weight=weights)
        torch.testing.assert_close(part.total / part.count, mean, rtol=1e-6, atol=0)
    torch.testing.assert_close(
        sum(part.total for part in parts) / sum(part.count for part in parts), expected, rtol=1e-6, atol=0
    )
    assert (whole.seen, [part.seen for part in parts]) == (24, [6] * 4)


def test_the_best_model_is_chosen_by_macro_f1_where_classes_are_balanced_and_ties_by_loss(
    tmp_path: Path,
) -> None:
    plain, balanced = (
        make(tmp_path, SKEWED),
        make(tmp_path, SKEWED, classification={"class_weights": "balanced"}),
    )
    model = shaken(plain)
    assert (
        plain.objective().validate(model).value == plain.objective().validate(model).facts["valid_accuracy"]
    )
    found = balanced.objective().validate(model)
    assert found.value == found.facts["valid_macro_f1"] != found.facts["valid_accuracy"]
    assert found.wins_tie(found.value, found.facts["valid_loss"] + 0.1)
    assert not found.wins_tie(found.value, found.facts["valid_loss"])
    assert not found.wins_tie(found.value + 0.1, found.facts["valid_loss"] + 0.1)


def test_skew_and_single_examples_are_told(tmp_path: Path) -> None:
    notes = "\n".join(make(tmp_path, SKEWED).notes)
    assert "train: 1 class has one example and will hardly be learned: rare" in notes
    assert (
        "'usual' has 18 rows and 'rare' 1; to weight all classes equally: classification.class_weights=balanced"
        in notes
    )
    assert "class_weights" not in "\n".join(
        make(tmp_path, SKEWED, classification={"class_weights": "balanced"}).notes
    )


@pytest.mark.slow
@pytest.mark.spec(43)
def test_the_temperature_of_the_validation_part_lowers_its_loss_and_is_used_by_predictions(
    tmp_path: Path,
) -> None:
    rows = [
        {"text": f"text {'fine' * (i % 3)} number {i} of some", "label": "yes" if i % 3 == 1 else "no"}
        for i in range(72)  # enough to choose a temperature
    ]
    task = make(tmp_path, rows)
    model = shaken(task)
    before = task.evaluate(model, "valid")
    calibration = task.evaluator().calibrate(model)
    after = task.evaluate(model, "valid", calibration)
    named = [{score.name: score for score in each.scores} for each in (before, after)]
    assert named[1]["loss"].value < named[0]["loss"].value
    assert named[1]["accuracy"].value == named[0]["accuracy"].value
    split = task.splits["valid"]
    predictions = predict_classes(
        outputs_of(model, task.codec, split), split, temperature=calibration.temperature
    )
    targets, probability = predictions.targets, np.exp(predictions.log_probs[:, 1])
    assert named[1]["loss"].value == pytest.approx(log_loss(targets, probability), rel=1e-4)
    assert named[1]["roc_auc"].value == pytest.approx(roc_auc_score(targets, probability))
    best = max(f1_score(targets, probability >= threshold) for threshold in probability)
    assert f1_score(targets, probability >= calibration.threshold - 1e-9) == best
    assert after.sections_as_json()["calibration"]["before"]["nats"] == pytest.approx(
        named[0]["loss"].value, rel=1e-5
    )
    alone = task.predictor(model, calibration).predict(TEXTS[:1], top=2)[0]
    assert dict(alone.ranking)["yes"] == pytest.approx(float(probability[0]), abs=1e-6)
    uncalibrated = task.predictor(model).predict(TEXTS[:1], top=2)[0]
    assert uncalibrated.probability != pytest.approx(alone.probability, abs=1e-4)


LABELS = [
    {"text": text, "topics": [name for name in ("a", "b", "c") if (i * ord(name)) % 4 == 0]}
    for i, text in enumerate(TEXTS)
]


def test_several_labels_are_scored_as_scikit_learn_does_with_thresholds_of_the_validation_part(
    tmp_path: Path,
) -> None:
    task = make(tmp_path, LABELS)
    assert task.recipe.task == "multi_label"
    model = shaken(task)
    truth = np.array([[name in row["topics"] for name in "abc"] for row in LABELS])
    loss = task.objective().loss(
        model, batch := task.codec.collate(task.splits["train"], np.arange(24)), step=0, carry=()
    )
    assert np.array_equal(batch["labels"].numpy(), truth)
    assert [ids.tolist() for ids in task.splits["train"].store["labels"]] == [
        np.flatnonzero(row).tolist() for row in truth
    ]
    probabilities = torch.sigmoid(model(batch.inputs, batch.is_token)).detach().numpy()
    assert (loss.total / loss.count).item() == pytest.approx(
        log_loss(truth.ravel(), probabilities.ravel()), rel=1e-5
    )
    calibration = task.evaluator().calibrate(model)
    said = probabilities >= np.array([calibration.thresholds[name] for name in "abc"])
    scores = {score.name: score for score in task.evaluate(model, "test", calibration).scores}
    assert scores["micro_f1"].value == pytest.approx(f1_score(truth, said, average="micro"))
    assert scores["macro_f1"].value == pytest.approx(f1_score(truth, said, average="macro"))
    assert scores["subset_accuracy"].value == (truth == said).all(axis=1).mean()
    assert scores["macro_f1"].baseline_name.startswith("naive Bayes on ")
    assert scores["macro_f1"].value >= f1_score(
        truth, probabilities >= 0.5, average="macro"
    )  # here validation and test are the same rows
    found = task.predictor(model, calibration).predict(TEXTS[:2], top=1)[1]
    assert (
        found.answer == ", ".join(name for name, yes in zip("abc", said[1], strict=True) if yes) or "(none)"
    )
    assert {name for name, _ in found.ranking} == {"a", "b", "c"}
    assert found.probability == pytest.approx(
        np.where(said[1], probabilities[1], 1 - probabilities[1]).prod(), rel=1e-4
    )


NUMBERS = [{"text": text, "score": 10.0 * (i % 3) + i / 7} for i, text in enumerate(TEXTS)]


def test_numbers_are_learned_on_a_scale_and_answered_in_their_own_units(tmp_path: Path) -> None:
    task = make(tmp_path, NUMBERS, regression={"loss": "squared"})
    assert task.recipe.task == "regression"
    truth = np.array([row["score"] for row in NUMBERS])
    batch = task.codec.collate(task.splits["train"], np.arange(24))
    torch.testing.assert_close(
        batch["target"], torch.tensor((truth - truth.mean()) / truth.std(), dtype=torch.float32)
    )
    model = shaken(task)
    predicted = model(batch.inputs, batch.is_token).detach().numpy()[:, 0] * truth.std() + truth.mean()
    scores = {score.name: score for score in task.evaluate(model, "test").scores}
    assert scores["rmse"].value == pytest.approx(mean_squared_error(truth, predicted) ** 0.5, rel=1e-5)
    assert f"the training mean gets {truth.std():.4g}" in scores["rmse"].method
    assert scores["rmse"].baseline_name.startswith("ridge on ")
    assert scores["rmse"].baseline < truth.std()  # it has seen these very rows
    loss = task.objective().loss(model, batch, step=0, carry=())
    assert (loss.total / loss.count).item() == pytest.approx(
        mean_squared_error(truth, predicted) / truth.var() / 2, rel=1e-4
    )
    calibration = task.evaluator().calibrate(model)
    assert np.mean(np.abs(truth - predicted) <= calibration.half_width + 1e-4) >= 0.9
    (found,) = task.predictor(model, calibration).predict(TEXTS[:1], top=1)
    assert (found.answer, found.probability) == (f"{predicted[0]:.4g}", None)
    assert [share for _, share in found.ranking] == pytest.approx([0.05, 0.95])


def test_a_large_error_of_a_number_costs_no_more_than_its_size_unless_squares_are_asked_for(
    tmp_path: Path,
) -> None:
    task = make(tmp_path, NUMBERS)
    model, batch = shaken(task), task.codec.collate(task.splits["train"], np.arange(24))
    errors = (model(batch.inputs, batch.is_token)[:, 0] - batch["target"]).abs().tolist()
    assert max(errors) > 1.2
    expected = sum(error - 0.5 if error > 1 else error**2 / 2 for error in errors)
    loss = task.objective().loss(model, batch, step=0, carry=())
    assert loss.total.item() == pytest.approx(expected, rel=1e-5)


def test_a_number_too_far_from_the_training_data_names_its_row(tmp_path: Path) -> None:
    task = make(tmp_path, NUMBERS)
    (tmp_path / "far.jsonl").write_text(
        "".join(json.dumps({**NUMBERS[i], "score": (i or 1e300)}) + "\n" for i in range(3))
    )
    source = open_data(
        task.recipe.model_copy(
            update={"data": task.recipe.data.model_copy(update={"test": str(tmp_path / "far.jsonl")})}
        )
    )
    with pytest.raises(DataError) as caught:
        task.codec.encode_split("test", source.parts["test"])
    assert all(fact in str(caught.value) for fact in ("far.jsonl, line 1", "1e+300"))


@pytest.mark.spec(13)
def test_a_number_of_a_numeric_series_is_learned_by_the_same_network(tmp_path: Path) -> None:
    steps = [{"id": i, "x": (i * 7 + t) % 5, "dose": i / 3} for i in range(30) for t in range(3)]
    task = make(tmp_path, steps, data={"sequence": "id", "label": "dose", "features": ["x"]})
    assert task.recipe.task == "regression"
    assert task.codec.collate(task.splits["train"], np.arange(2)).inputs.shape == (2, 3, 1)
    score = task.evaluate(shaken(task), "test").scores[0]
    assert (score.baseline_name, score.baseline) == (
        "the training mean",
        pytest.approx(np.std(np.arange(30) / 3)),
    )


def test_a_slow_series_has_its_last_value_as_a_baseline(tmp_path: Path) -> None:
    """The number is near the last value of the second feature; the first one is noise."""
    chance = np.random.default_rng(0)
    steps = [
        {"id": i, "noise": chance.normal(), "level": i + t / 10, "next": i + 0.4}
        for i in range(30)
        for t in range(3)
    ]
    data = {"sequence": "id", "label": "next", "features": ["noise", "level"]}
    task = make(tmp_path, steps, data=data)
    score = task.evaluate(shaken(task), "test").scores[0]
    assert score.name == "rmse"
    assert (score.baseline_name, score.baseline) == ("the last value of feature 2", pytest.approx(0.2))
    assert score.verdict == "clearly worse"


def test_naive_bayes_chooses_its_own_features_on_validation_data(tmp_path: Path) -> None:
    """The network reads single words, of which none tells the class; pairs of them do."""
    pairs = [("good film", "no"), ("bad film", "yes"), ("not good", "yes"), ("not bad", "no")]
    task = make(
        tmp_path, [{"text": text, "label": label} for text, label in pairs * 8], tokens={"kind": "words"}
    )
    accuracy = task.evaluate(shaken(task), "test").scores[0]
    assert (accuracy.baseline_name, accuracy.baseline) == ("naive Bayes on words and word pairs", 1.0)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("task_name", "labels", "fitted"),
    [
        ("classification", ("yes", "no"), NaiveBayes),
        ("multi_label", ("a,b", "b"), NaiveBayes),
        ("regression", (1.5, 2.0, 7.0), Ridge),
    ],
)
def test_baselines_are_fitted_once_for_all_splits_and_chosen_for_each_validation_split(
    task_name: str, labels: tuple[Any, ...], fitted: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [{"text": f"{a} {b}", "label": labels[(a + b) % len(labels)]} for a in range(7) for b in range(7)]
    task = make(tmp_path, rows, task=task_name, tokens={"kind": "words"})
    others = [{**row, "label": labels[row["text"].count("1") % len(labels)]} for row in rows[::2]]
    (tmp_path / "other.jsonl").write_text("".join(json.dumps(row) + "\n" for row in others))
    other = task.codec.encode_split("valid", open_further_data(task.recipe, str(tmp_path / "other.jsonl")))
    predictor, fits, fit = task.predictor(shaken(task)), list[int](), fitted.fit.__func__

    def counted(cls: Any, *arguments: Any, **options: Any) -> Any:
        fits.append(1)
        return fit(cls, *arguments, **options)

    def scores(evaluator: Any, valid: Any, split: str) -> str:
        evaluation = evaluator.with_splits({**task.splits, "valid": valid}).evaluate(predictor, split)
        return repr((evaluation.scores, evaluation.sections))

    monkeypatch.setattr(fitted, "fit", classmethod(counted))
    same, kept = task.splits["valid"], task.evaluator()
    kept.evaluate(predictor, "test")
    assert len(fits) >= 4
    once, asked = (
        len(fits),
        [(same, "test"), (same, "valid"), (other, "valid"), (other, "test"), (same, "valid")],
    )
    known = [scores(kept, valid, split) for valid, split in asked]
    assert len(fits) == once
    assert known == [scores(task.evaluator(), valid, split) for valid, split in asked]
    assert len(set(known)) == 4


def test_texts_of_two_columns_are_read_with_a_separator_between_them(tmp_path: Path) -> None:
    rows = [{"title": text, "body": f"body {i}", "label": "xy"[i % 2]} for i, text in enumerate(TEXTS)]
    task = make(tmp_path, rows, data={"text": "title,body"}, tokens={"kind": "words"})
    (steps,) = task.codec.encode([{"title": "some text", "body": "body of"}])
    assert task.codec.pieces(steps) == ["some", "text", "<sep>", "body", "of"]
    assert task.codec.pieces(task.splits["test"].steps[2])[:3] == ["text", "finefine", "number"]
    model = shaken(task)
    asked = [
        task.predictor(model).predict([question], top=1)[0]
        for question in ({"title": "a", "body": "b"}, '{"title": "a", "body": "b"}')
    ]
    assert asked[0] == asked[1]
    task.codec.save(tmp_path / "tokens")
    assert (
        type(task.codec)
        .load(task.recipe, tmp_path / "tokens")
        .encode([{"title": "x", "body": ""}])[0]
        .tolist()[-1]
        == task.codec.encode([{"title": "", "body": ""}])[0].tolist()[0]
    )
    with pytest.raises(
        DataError, match=r'(?s)reads several texts \(title, body\).*\{"title": "…", "body": "…"\}'
    ):
        task.predictor(model).predict(["only one"], top=1)


@pytest.mark.parametrize(
    ("rows", "sections", "words"),
    [
        (
            LABELS,
            {"task": "multi_label", "classification": {"class_weights": "balanced"}},
            "classification: .* but the task is multi_label",
        ),
        (
            NUMBERS,
            {"training": {"label_smoothing": 0.1}},
            r"training\.label_smoothing: 0\.1 has no effect on the task regression",
        ),
        (LABELS, {"decoding": {"beam": 3}}, "decoding: beam has no effect"),
    ],
)
def test_settings_that_would_do_nothing_are_refused(
    rows: list[dict[str, Any]], sections: dict[str, Any], words: str, tmp_path: Path
) -> None:
    with pytest.raises(RecipeError, match=words):
        make(tmp_path, rows, **sections)


def test_a_number_that_is_none_and_numbers_that_never_change_are_refused(tmp_path: Path) -> None:
    data = {"text": "text", "label": "score"}
    with pytest.raises(DataError, match=r"line 2: column 'score' holds 'n/a', expected a number"):
        make(tmp_path, [NUMBERS[0], {"text": "x", "score": "n/a"}], data=data, task="regression")
    with pytest.raises(DataError, match=r"the same number \(3\)"):
        make(tmp_path, [{"text": text, "score": 3} for text in TEXTS], data=data, task="regression")
