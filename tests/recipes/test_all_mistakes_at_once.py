"""Everything that is wrong with settings is reported in one error, before any data is read."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from seqlab.core.errors import RecipeError
from seqlab.metrics.registry import metrics
from seqlab.recipes.read import check
from seqlab.runs.find_recipe import find_recipe
from seqlab.tasks.spec import find_spec, task_specs
from tests.check_each import check_each


def mistakes_in(words: list[str], **options: Any) -> str:
    with pytest.raises(RecipeError) as caught:
        find_recipe("languages", words, **options)
    return caught.value.message


def test_a_misspelled_model_hides_no_other_mistake() -> None:
    message = mistakes_in(["model.hiden_size=5", "training.steps=many", "model.heads=2"], model="transfomer")
    for fact in ("4 mistakes" if "heads" in message else "3 mistakes", "'transfomer'", "'transformer'"):
        assert fact in message
    assert "model.hiden_size" in message
    assert "training.steps: expected a whole number" in message
    assert "heads" not in message  # a setting of some model


def test_an_unknown_kind_hides_no_other_mistake() -> None:
    message = mistakes_in(["model.kind=recurent", "model.cel=gru", "training.stepz=1"])
    for fact in ("3 mistakes", "'recurrent'", "model.cel", "training.stepz"):
        assert fact in message


def test_keywords_of_python_are_reported_with_everything_else() -> None:
    values = {"hiden_size": 3, "learning_rte": 1, "window": 8, "training.steps": "x"}
    message = mistakes_in([], values=values, task="clasification", model="lstmm")
    for fact in ("hiden_size", "learning_rte", "'lstmm'", "training.steps", "'clasification'"):
        assert fact in message


def test_a_missing_file_is_reported_with_wrong_settings(tmp_path: Path) -> None:
    file = tmp_path / "there.csv"
    file.write_text("text,label\na,b\n")
    for what, words in (
        ("no_such_file.csv", ["training.stepz=1"]),
        (str(file), ["training.stepz=1", "data.valid=no_such_file.csv", "data.test_share=7"]),
    ):
        with pytest.raises(RecipeError) as caught:
            find_recipe(what, words)
        for fact in (
            f"{len(words) + (what != str(file))} mistakes",
            "no_such_file.csv: there is no such",
            "stepz",
        ):
            assert fact in caught.value.message
    with pytest.raises(RecipeError) as caught:
        find_recipe(str(file), ["training.stepz=1"])
    assert "there.csv" not in caught.value.message


CONTRADICTIONS: list[tuple[dict[str, Any], list[str]]] = [
    ({"model": {"kind": "transformer", "hidden_size": 10, "heads": 3}}, ["model.heads", "10", "1, 2, 5"]),
    ({"model": {"kind": "transformer", "heads": 4, "kv_heads": 3}}, ["model.kv_heads", "1, 2, 4"]),
    ({"model": {"kind": "transformer", "hidden_size": 9, "heads": 3, "positions": "rotary"}}, ["model.head_size=4"]),
    ({"model": {"kind": "transformer", "hidden_size": 8, "heads": 2}, "decoder": {"heads": 3}}, ["decoder.heads", "8"]),
    ({"model": "lstm", "decoder": {"kind": "transformer", "hidden_size": 8, "heads": 3}}, ["decoder.heads", "1, 2, 4"]),
    ({"model": "lstm", "decoder": {"cell": "lsmt"}}, ["decoder.cell", "'lstm'"]),
    ({"start": {"freeze": "backbone"}}, ["start.freeze", "start.run"]),
    ({"start": {"run": "a", "vectors": "b"}}, ["start.vectors", "start.run"]),
    ({"task": "language_model", "model": "bilstm"}, ["model.bidirectional", "false"]),
    ({"task": "language_model", "model": "vit"}, ["model.kind", "vision_transformer"]),
    ({"task": "language_model", "model": "cnn", "language_model": {"bptt_steps": 5}}, ["language_model.bptt_steps"]),
    ({"task": "language_model", "language_model": {"softmax": "sampled"}, "training": {"label_smoothing": 0.1}}, ["language_model.softmax"]),
    ({"task": "tagging", "model": {"kind": "convolutional", "kernel_size": 4}}, ["model.kernel_size", "3 or 5"]),
    ({"task": "tagging", "model": {"kind": "fixed_window", "context": 8}}, ["model.context", "7 or 9"]),
    ({"task": "tagging", "tagging": {"crf": True}, "training": {"label_smoothing": 0.1}}, ["tagging.crf"]),
    ({"task": "tagging", "data": {"label_separator": ";"}}, ["data.label_separator", "multi_label"]),
    ({"task": "classification", "model": {"bidirectional": True, "merge": "mean"}}, ["model.pooling", "model.merge"]),
    ({"task": "classification", "model": "lstm", "bag": {"min_df": 5}}, ["bag.min_df", "bag.n_grams"]),
    ({"task": "classification", "classification": {"class_weights": "balanced"}, "distillation": {"run": "a"}}, ["class_weights"]),
    ({"task": "captioning", "model": "lstm"}, ["model.kind", "cnn2d"]),
]  # fmt: skip


def refused(case: tuple[dict[str, Any], list[str]]) -> None:
    raw, facts = case
    with pytest.raises(RecipeError) as caught:
        check({**raw, "training": {**raw.get("training", {}), "stepz": 3}}, where="test")
    missing = [fact for fact in [*facts, "training.stepz", "2 mistakes"] if fact not in caught.value.message]
    assert not missing, f"{caught.value.message} lacks {missing}"


def test_contradictions_are_found_beside_mistakes() -> None:
    check_each(CONTRADICTIONS, refused)


FINE: list[dict[str, Any]] = [
    {"model": {"kind": "transformer", "hidden_size": 10, "heads": 3, "head_size": 4}},
    {"model": {"kind": "transformer", "heads": 3}, "start": {"run": "a"}},  # the width is that of the run
    {"model": {"kind": "transformer", "heads": 3}, "start": {"vectors": "a.vec"}},
    {"task": "language_model", "model": {"kind": "convolutional", "kernel_size": 4}},
    {"task": "language_model", "model": {"kind": "fixed_window", "context": 8}},
    {"task": "tagging", "model": {"bidirectional": True, "merge": "mean"}},
    {"task": "classification", "model": {"bidirectional": True, "merge": "mean", "pooling": "max"}},
    {"task": "classification", "bag": {"min_df": 5}},  # the task chooses the model
    {"task": "captioning"},
    {"start": {"vectors": "a.vec", "freeze": "embedding"}},
    {"model": {"kind": "recurrent", "bidirectional": True}},  # the task is not known yet
]


def test_metrics_of_a_task_without_predictions_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(metrics._parts, "kappa", object)
    refused(
        (
            {"task": "language_model", "evaluation": {"metrics": ["kappa"]}},
            ["evaluation.metrics", "does not predict"],
        )
    )


def test_settings_that_may_fit_are_accepted() -> None:
    check_each(FINE, lambda raw: check(raw, where="test"))


def test_defaults_of_every_task_contradict_nothing() -> None:
    check_each(
        task_specs.names(), lambda task: find_spec(task).contradictions(check({"task": task}, where=""))
    )


def test_a_contradiction_with_a_default_in_place_of_a_mistake_is_not_reported() -> None:
    """The width is unknown, so nothing is said about the heads."""
    with pytest.raises(RecipeError) as caught:
        check({"model": {"kind": "transformer", "hidden_size": "wide", "heads": 3}}, where="test")
    assert "heads" not in caught.value.message


def test_all_of_it_without_torch(tmp_path: Path) -> None:
    program = (
        "import sys; from seqlab.cli.main import main\n"
        "try: main(['train', 'x.csv', '--task', 'tagging', '--model', 'transformer', 'model.heads=3'])\n"
        "except SystemExit as ended: print(ended.code, 'torch' in sys.modules)"
    )
    ended = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=tmp_path
    )
    assert ended.stdout.strip() == "2 False"
    assert "model.heads" in ended.stderr
