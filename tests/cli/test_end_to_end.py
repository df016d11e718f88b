"""The straight line as a user walks it: a file, a trained model, its scores, its answers, and the same again
after loading.
"""

from __future__ import annotations

import io
import json
import random
import re
import sys
from pathlib import Path

import pytest

import seqlab
from seqlab.runs.run import Run
from tests.cli.conftest import SMALL, sentence
from tests.cli.running import run

pytestmark = pytest.mark.slow  # trainings and commands: short each, long together

TINY = ("training.steps=3", "model.hidden_size=8", *SMALL)
LABELS = {"good": "what a fine day it was for all of us", "bad": "such a dull evening in the old house"}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("model", ["rnn", "lstm", "gru", "bilstm", "cnn", "transformer"])
def test_a_csv_becomes_a_scored_classifier_with_every_kind_of_model(
    model: str, reviews_csv: Path, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ended = run(capsys, "train", str(reviews_csv), "--model", model, *TINY)
    assert ended.code == 0, ended.err
    assert "text column 'review'" in ended.err
    assert "label column 'opinion'" in ended.err
    assert "test: accuracy 0." in ended.out
    assert "naive Bayes" in ended.out
    found = next((folder / "runs").iterdir())
    assert {path.name for path in found.iterdir()} >= {
        "recipe.toml",
        "model.safetensors",
        "tokens",
        "journal.jsonl",
        "results.json",
        "report.html",
    }
    assert ended.out.endswith(
        f'next:\n  seqlab predict runs/{found.name} "some text"\n  seqlab evaluate runs/{found.name}\n'
    )


@pytest.mark.parametrize("model", ["rnn", "lstm", "gru", "cnn", "transformer"])
def test_a_text_becomes_a_language_model_with_every_kind_of_model(
    model: str, story_txt: Path, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ended = run(
        capsys,
        "train",
        str(story_txt),
        "--model",
        model,
        *TINY,
        "language_model.window=16",
        "training.evaluate_every=3",
    )
    assert ended.code == 0, ended.err
    assert "task language_model" in ended.err
    for name in ("nats_per_token", "bits_per_token", "bits_per_character", "perplexity"):
        assert f"test: {name} " in ended.out
    assert "-gram" in ended.out
    assert "seqlab generate runs/story-" in ended.out


def test_jsonl_and_folders_are_read_like_a_table(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [(label, f"{text} {number}") for number in range(20) for label, text in LABELS.items()]
    (folder / "days.jsonl").write_text(
        "".join(json.dumps({"text": text, "label": label}) + "\n" for label, text in rows)
    )
    for number, (label, text) in enumerate(rows):
        place = folder / "days" / label
        place.mkdir(parents=True, exist_ok=True)
        (place / f"{number}.txt").write_text(text)
    for what in ("days.jsonl", "days"):
        ended = run(capsys, "train", what, *TINY, "--quiet")
        assert ended.code == 0, ended.err
        assert "test: accuracy" in ended.out
    assert sorted(path.name for path in (folder / "runs").iterdir()) == ["days-lstm", "days-lstm-2"]


def test_a_recipe_that_dry_run_prints_trains_the_same(
    reviews_csv: Path, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    planned = run(capsys, "train", str(reviews_csv), *TINY, "--dry-run")
    assert planned.code == 0
    (folder / "mine.toml").write_text(planned.out)
    assert run(capsys, "train", "mine.toml", "--quiet").code == 0
    assert run(capsys, "train", str(reviews_csv), *TINY, "--quiet").code == 0
    first, second = (
        json.loads((folder / "runs" / name / "results.json").read_text())
        for name in ("mine", "my-reviews-lstm")
    )
    assert first["splits"] == second["splits"]
    assert (folder / "runs/mine/recipe.toml").read_text() == (
        folder / "runs/my-reviews-lstm/recipe.toml"
    ).read_text()


@pytest.mark.spec(13)
def test_series_from_a_table_with_one_row_per_step_are_learned(
    waves_run: Run, waves_csv: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert waves_run.recipe.data.sequence == "id"
    assert waves_run.recipe.data.label == "shape"
    assert waves_run.recipe.data.features == ("height", "slope")
    assert waves_run.results["accuracy"].value > 0.9
    ended = run(capsys, "predict", str(waves_run.folder), "--file", str(waves_csv), "--json")
    answers = [prediction["answer"] for prediction in ended.json["predictions"]]
    truth = list(dict(line.split(",")[::4] for line in waves_csv.read_text().splitlines()[1:]).values())
    assert len(answers) == len(truth) == 160
    assert sum(a == b for a, b in zip(answers, truth, strict=True)) / 160 > 0.9


def test_numbers_can_be_asked_about_as_json_and_text_is_refused(
    waves_run: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    square = json.dumps([[1.0, 0.0 if step else 1.0] if step % 8 < 4 else [-1.0, 0.0] for step in range(16)])
    ended = run(capsys, "predict", str(waves_run.folder), square)
    assert ended.code == 0, ended.err
    assert ended.out.split("\t")[0] in ("sine", "square")
    refused = run(capsys, "predict", str(waves_run.folder), "up and down")
    assert refused.code == 2
    assert "expected numbers" in refused.err
    assert "[[0.5, 1], [0.7, 2]]" in refused.err


@pytest.mark.spec(13)
def test_pictures_of_digits_read_row_by_row_are_learned(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("sklearn")
    settings = (
        "training.steps=150",
        "training.learning_rate=0.02",
        "training.evaluate_every=75",
        "model.hidden_size=32",
        "training.threads=1",
    )
    ended = run(capsys, "train", "digits", "--model", "gru", *settings, "--json")
    assert ended.code == 0, ended.err
    assert ended.json["scores"]["accuracy"]["value"] > 0.9
    assert ended.json["scores"]["accuracy"]["baseline_name"] == "nearest class mean"


def test_a_loaded_run_answers_exactly_as_before(reviews_run: Run, story_run: Run, waves_run: Run) -> None:
    questions: dict[str, list[object]] = {
        "reviews": ["a lovely film", "so boring", ""],
        "story": ["the old cat ", "qqq", ""],
        "waves": [[[0.1, 0.2], [0.4, 0.1], [0.9, -0.2]], [[1.0, 0.0]]],
    }
    for trained, asked in zip((reviews_run, story_run, waves_run), questions.values(), strict=True):
        again = seqlab.load(trained.folder)
        assert again.predict(asked) == trained.predict(asked)
        assert again.num_parameters == trained.num_parameters
        assert again.results == trained.results
    assert seqlab.load(story_run.folder).generate("the ", max_tokens=40) == story_run.generate(
        "the ", max_tokens=40
    )


def test_a_run_that_is_moved_answers_as_before(reviews_run: Run, tmp_path: Path) -> None:
    import shutil

    moved = tmp_path / "elsewhere"
    shutil.copytree(reviews_run.folder, moved)
    assert seqlab.load(moved).predict(["a lovely film"]) == reviews_run.predict(["a lovely film"])


def test_the_classifier_has_learned_and_is_scored_on_unseen_rows(reviews_run: Run) -> None:
    assert reviews_run.results.split == "test"
    assert [
        answer.answer
        for answer in reviews_run.predict(
            ["film number 7 was awful to watch", "film number 7 was lovely to watch"]
        )
    ] == [
        "bad",
        "good",
    ]


def test_arguments_a_file_and_standard_input_are_answered_in_their_order(
    reviews_run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    texts = [
        f"film number {number} was {word} to watch"
        for number in range(40)
        for word in ("lovely", "awful", "so " * number + "great")
    ]
    (folder / "new.csv").write_text("stars,review\n" + "".join(f'1,"{text}"\n' for text in texts))
    (folder / "new.txt").write_text("\n".join(texts) + "\n")
    expected = [
        f"{answer.answer}\t{answer.probability:.4f}\t{answer.input}" for answer in reviews_run.predict(texts)
    ]
    name = str(reviews_run.folder)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO("\n".join(texts).encode())))
    for words in ((name, *texts), (name, "--file", "new.csv"), (name, "--file", "new.txt"), (name,)):
        ended = run(capsys, "predict", *words)
        assert ended.code == 0, ended.err
        assert ended.out.splitlines() == expected
        assert ended.err == f"next:\n  seqlab evaluate '{name}'\n"


def test_an_empty_line_keeps_its_place_and_bad_bytes_are_named_by_line(
    reviews_run: Run, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"one\r\n\nthree\ncaf\xe9\n")))
    ended = run(capsys, "predict", str(reviews_run.folder))
    assert ended.code == 2
    assert [line.split("\t")[2] for line in ended.out.splitlines()] == ["one", "", "three"]
    assert "standard input, line 4: is not valid UTF-8" in ended.err


def test_a_file_without_the_text_column_is_refused(
    reviews_run: Run, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "other.csv").write_text("title,stars\na film,3\n")
    ended = run(capsys, "predict", str(reviews_run.folder), "--file", "other.csv")
    assert ended.code == 2
    assert "other.csv: there is no column 'review'" in ended.err


def test_the_same_seed_writes_the_same_text_and_another_one_another(
    story_run: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ("generate", str(story_run.folder), "--prompt", "the ", "--tokens", "60", "--temperature", "1.2")
    first, same, other = (run(capsys, *words, "--seed", seed).out for seed in ("7", "7", "8"))
    assert first == same != other
    assert first.startswith("the ")
    assert len(first) == len("the ") + 60 + 1
    greedy = [run(capsys, *words[:-1], "0", "--seed", seed).out for seed in ("1", "2")]
    assert greedy[0] == greedy[1]


@pytest.mark.parametrize("fixture", ["reviews_run", "story_run", "waves_run"])
def test_evaluating_the_own_test_part_gives_the_numbers_of_the_results(
    fixture: str, request: pytest.FixtureRequest, capsys: pytest.CaptureFixture[str]
) -> None:
    trained: Run = request.getfixturevalue(fixture)
    ended = run(capsys, "evaluate", str(trained.folder))
    assert ended.code == 0, ended.err
    for score in trained.results.values():
        assert f"test: {score.describe()}\n    {score.method}\n" in ended.out
    assert "\nnext:\n  seqlab " in ended.out


def test_evaluating_on_new_data_counts_its_rows(
    reviews_run: Run, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "new.csv").write_text(
        "review,opinion\nwas awful to watch,bad\nwas lovely to watch,good\nwas dull to watch,good\n"
    )
    found = run(capsys, "evaluate", str(reviews_run.folder), "new.csv", "--json").json
    assert found["split"] == "new data"
    assert found["scores"]["accuracy"]["value"] == pytest.approx(2 / 3)
    assert found["sections"]["confusion"]["counts"] == [[1, 0], [1, 1]]


@pytest.mark.spec(3)
def test_the_next_token_table_is_ordered_and_sums_to_one_over_the_vocabulary(
    story_run: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    everything = 1000
    for prefix in ("the old ca", "the ", ""):
        found = run(
            capsys, "predict", str(story_run.folder), prefix, "--top", str(everything), "--json"
        ).json["predictions"][0]
        shares = [share for _, share in found["ranking"]]
        assert len(shares) == len({name for name, _ in found["ranking"]})
        assert sum(shares) == pytest.approx(1, abs=1e-4)
        assert shares == sorted(shares, reverse=True)
        assert (found["answer"], found["probability"]) == tuple(found["ranking"][0])
    shown = run(capsys, "predict", str(story_run.folder), "the old ca", "--top", "3").out.splitlines()
    assert shown[0] == "the old ca"
    assert shown[1].endswith("'t'")
    assert len(shown) == 4


@pytest.mark.spec(39)
def test_a_plausible_sentence_surprises_less_than_shuffled_words_and_gibberish_most(
    story_run: Run, folder: Path
) -> None:
    rng = random.Random(11)
    plausible = [sentence(rng) for _ in range(20)]
    shuffled = [" ".join(rng.sample(line.split(), len(line.split()))) for line in plausible]
    gibberish = ["".join(rng.sample(line, len(line))) for line in plausible]
    perplexities = []
    for name, lines in (("plausible", plausible), ("shuffled", shuffled), ("gibberish", gibberish)):
        (folder / f"{name}.txt").write_text("\n".join(lines) + "\n")
        scores = {score.name: score.value for score in story_run.evaluate(folder / f"{name}.txt").scores}
        perplexities.append(scores["perplexity"])
    assert perplexities[0] * 1.5 < perplexities[1]
    assert perplexities[1] * 1.5 < perplexities[2]


def test_progress_is_plain_lines_when_nobody_watches(
    reviews_csv: Path, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ended = run(capsys, "train", str(reviews_csv), *TINY)
    assert re.search(r"^step 3: .*valid_accuracy", ended.err, re.MULTILINE)
    assert "\x1b" not in ended.err
    assert "\r" not in ended.err
    assert run(capsys, "train", str(reviews_csv), *TINY, "--quiet").err.count("step") == 0


def test_the_data_report_ends_with_the_command_that_trains_on_it(
    reviews_csv: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ended = run(capsys, "data", str(reviews_csv), "data.label=opinion")
    assert "train: 96 rows" in ended.out
    assert ended.out.endswith(f"next:\n  seqlab train '{reviews_csv}' data.label=opinion\n")


def test_the_report_on_a_text_does_not_complain_about_lines_that_repeat(
    story_txt: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ended = run(capsys, "data", str(story_txt))
    assert "train: 480 lines" in ended.out
    assert "repeat an earlier one" not in ended.out
    assert (
        "of the 50-character passages also occur in train" in ended.out
    )  # a small grammar says the same again and again


def test_a_data_report_on_series_counts_steps(waves_csv: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = run(capsys, "data", str(waves_csv)).out
    assert "    steps per row: minimum 14," in out
    assert "words per row" not in out


def test_stopping_says_how_to_go_on_and_is_exit_code_130(
    reviews_csv: Path, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from seqlab.runs.train import start

    def stopped(*_: object, **__: object) -> Run:
        raise start.Interrupted(Path("runs/my run"), 7)

    monkeypatch.setattr(start, "train", stopped)
    ended = run(capsys, "train", str(reviews_csv), *TINY, "--quiet")
    assert (ended.code, ended.out) == (130, "")
    assert ended.err.startswith("Stopped and saved after step 7.")
    assert ended.err.endswith("\n  seqlab train --resume 'runs/my run'\n")


def test_a_model_worse_than_its_baseline_is_told_once(
    reviews_csv: Path, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ended = run(capsys, "train", str(reviews_csv), *TINY)
    assert ended.err.count("does not beat its baseline") == ended.out.count("accuracy") * (
        "worse than" in ended.out.splitlines()[0]
    )
    assert "95% CI" not in ended.err


@pytest.mark.slow
def test_eight_rows_give_scores_and_no_verdict(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = [
        "good film",
        "bad film",
        "great fun",
        "dull plot",
        "lovely cast",
        "awful noise",
        "nice",
        "boring",
    ]
    rows = [f"{text},{'no' if number % 2 else 'yes'}" for number, text in enumerate(words)]
    (tmp_path / "few.csv").write_text("\n".join(["text,label", *rows]) + "\n")
    ended = run(
        capsys, "train", str(tmp_path / "few.csv"), "training.steps=2", *TINY, "--out", str(tmp_path / "run")
    )
    accuracy = next(line for line in ended.out.splitlines() if "accuracy" in line)
    assert "1 row is too few to compare" in accuracy
    assert "better" not in ended.out + ended.err
    assert "1 row is too few to compare" in ended.err
    page = (tmp_path / "run" / "report.html").read_text(encoding="utf-8")
    assert "too few to compare" in page
    assert "clearly" not in page
