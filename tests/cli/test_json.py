"""--json: exactly one JSON object on standard output, and nothing else there."""

from __future__ import annotations

from pathlib import Path

import pytest

from seqlab.cli.console import quoted
from seqlab.runs.run import Run
from tests.cli.conftest import SMALL
from tests.cli.running import run


@pytest.mark.slow
def test_train_and_its_dry_run_answer_in_json(
    reviews_csv: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    words = ("train", str(reviews_csv), "--json", "training.steps=2", "model.hidden_size=5", *SMALL)
    planned = run(capsys, *words, "--dry-run")
    assert (planned.code, list(tmp_path.iterdir())) == (0, [])
    assert planned.json["recipe"]["data"]["text"] == "review"
    ended = run(capsys, *words)
    found = ended.json
    assert found["run"] == planned.json["run"] == "runs/my-reviews-lstm"
    assert (found["split"], found["steps"]) == ("test", 2)
    assert set(found["scores"]) == {
        "accuracy",
        "macro_f1",
        "loss",
        "ece",
        "roc_auc",
        "average_precision",
    }
    assert found["scores"]["accuracy"]["baseline_name"].startswith("naive Bayes on ")
    assert "text column 'review'" in ended.err
    assert (tmp_path / found["run"] / "results.json").is_file()


def test_data_answers_in_json(reviews_csv: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ended = run(capsys, "data", str(reviews_csv), "--json")
    parts = ended.json["parts"]
    assert ended.json["task"] == "classification"
    assert sum(part["rows"] for part in parts.values()) == 120
    assert set(parts["train"]["labels"]) == {"good", "bad"}


def test_evaluate_answers_in_json(reviews_run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    found = run(capsys, "evaluate", str(reviews_run.folder), "--json").json
    assert (found["run"], found["split"]) == (str(reviews_run.folder), "test")
    assert found["scores"]["accuracy"] == reviews_run.results["accuracy"].as_json()


def test_predict_answers_in_json(reviews_run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    found = run(
        capsys,
        "predict",
        str(reviews_run.folder),
        "a lovely film",
        "\x1b[31mred \u202e",
        "--top",
        "2",
        "--json",
    )
    first, second = found.json["predictions"]
    assert first["input"] == "a lovely film"
    assert second["input"].startswith("\x1b[31mred")
    assert "\x1b" not in found.out
    assert "\u202e" not in found.out
    assert [name for name, _ in first["ranking"]] == [
        first["answer"],
        "bad" if first["answer"] == "good" else "good",
    ]
    assert sum(share for _, share in first["ranking"]) == pytest.approx(1, abs=1e-5)


def test_generate_suggests_a_command_that_gives_another_text(
    story_run: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    name = str(story_run.folder)
    sampled = run(capsys, "generate", name, "--prompt", "the old", "--tokens", "3", "--seed", "6")
    assert sampled.err.endswith("--prompt 'the old' --seed 7\n")
    greedy = run(capsys, "generate", name, "--tokens", "3", "--temperature", "0")
    assert greedy.err.endswith(f"generate {quoted(name)} --temperature 0.8\n")


def test_generate_answers_in_json(story_run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    found = run(
        capsys, "generate", str(story_run.folder), "--prompt", "the old", "--tokens", "20", "--json"
    ).json
    assert found["prompt"] == "the old"
    assert found["text"] == story_run.generate("the old", max_tokens=20)


@pytest.mark.parametrize(
    "words",
    [
        ("list",),
        ("list", "models"),
        ("list", "runs"),
        ("explain",),
        ("explain", "training"),
        ("explain", "lstm"),
    ],
)
def test_list_and_explain_answer_in_json(words: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    ended = run(capsys, *words, "--json")
    assert ended.code == 0
    assert ended.err == ""
    assert ended.json


def test_a_mistake_leaves_standard_output_empty(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, "train", "nowhere.csv", "--json").out == ""
