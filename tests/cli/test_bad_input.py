"""Bad input gets a clear error and nothing is lost: the words of each message."""

from __future__ import annotations

from pathlib import Path

import pytest

from seqlab.datasets.base import datasets
from seqlab.runs.run import Run
from tests.cli.conftest import SMALL
from tests.cli.running import Outcome, run

pytestmark = pytest.mark.slow  # trainings and commands: short each, long together

FAST = ("training.steps=2", "model.hidden_size=4", "--quiet", *SMALL)
GOOD = "text,label\n" + "".join(
    f"a fine film number {i},pos\na dull film number {i},neg\n" for i in range(30)
)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def refused(capsys: pytest.CaptureFixture[str], folder: Path, *words: str) -> str:
    """The message of a command that must change nothing."""
    before = sorted(folder.rglob("*"))
    ended = run(capsys, *words)
    assert (ended.code, ended.out) == (2, ""), ended.err
    assert len(ended.err.splitlines()) <= 12
    assert "Traceback" not in ended.err
    assert sorted(folder.rglob("*")) == before
    return ended.err


def trained(capsys: pytest.CaptureFixture[str], *words: str) -> Outcome:
    ended = run(capsys, "train", *words, *FAST)
    assert ended.code == 0, ended.err
    return ended


def test_a_missing_file_names_the_one_beside_it(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "reviews.csv").write_text(GOOD)
    message = refused(capsys, folder, "train", "review.csv", "--quiet")
    assert message.startswith(
        "DataError: review.csv: there is no such file or folder.\n  Did you mean 'reviews.csv'?"
    )
    assert ", ".join(datasets.names()) in message


@pytest.mark.parametrize(
    ("what", "words"),
    [
        ("langauges", "Did you mean 'languages'?"),
        ("imdb-lectur", "Did you mean 'imdb-lecture'?"),
        ("nowhere/at/all.csv", "There is no folder 'nowhere/at' either."),
        ("qqqq", "The folder contains: nothing."),
        ("x" * 5000, "File name too long"),
        ("a\0b", "there is no such file or folder"),
    ],
)
def test_a_name_that_means_nothing_gets_a_hint(
    what: str, words: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert words in refused(capsys, folder, "train", what)


def test_missing_test_data_is_named_before_anything_starts(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "reviews.csv").write_text(GOOD)
    message = refused(capsys, folder, "train", "reviews.csv", "data.test=tset.csv", *FAST)
    assert message.startswith("DataError: tset.csv: there is no such file or folder.")


def test_a_wrong_column_gets_the_nearest_one(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "reviews.csv").write_text(GOOD)
    message = refused(capsys, folder, "train", "reviews.csv", "data.label=lable", *FAST)
    assert (
        message
        == "DataError: reviews.csv: there is no column 'lable'.\n  Did you mean 'label'? Available: label,"
        " text.\n"
    )


def test_one_class_only_says_which_and_asks_for_the_label_column(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "one.csv").write_text(GOOD.replace(",neg", ",pos"))
    message = refused(capsys, folder, "train", "one.csv", "data.label=label", *FAST)
    assert "every row has the same label 'pos'" in message
    assert "at least two classes" in message
    assert "data.label=NAME" in message


@pytest.mark.parametrize("num_rows", [10, 15])
def test_fewer_rows_than_a_batch_train_with_a_smaller_one(
    num_rows: int, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = GOOD.splitlines()
    (folder / "few.csv").write_text("\n".join(lines[: num_rows + 1]) + "\n")
    ended = trained(capsys, "few.csv", "training.batch_size=512")
    assert "test: accuracy" in ended.out


def test_two_rows_are_too_few_and_it_says_for_what(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "two.csv").write_text("\n".join(GOOD.splitlines()[:3]) + "\n")
    message = refused(capsys, folder, "train", "two.csv", *FAST)
    assert "2 rows are too few" in message
    assert "data.valid=FILE" in message


def test_a_text_of_length_zero_is_named_by_its_line_and_can_be_skipped(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "gap.csv").write_text(GOOD + ",pos\n" * 61)
    message = refused(capsys, folder, "train", "gap.csv", *FAST)
    assert "gap.csv, line 62: column 'text' has no text." in message
    assert "61 of 121 rows" in message
    assert "data.bad_rows=skip" in message
    trained(capsys, "gap.csv", "data.bad_rows=skip")


@pytest.mark.parametrize("name", ["long.csv", "long.jsonl"])
def test_a_row_of_a_hundred_megabytes_is_refused_with_its_number(
    name: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first = {"csv": b"text,label\n", "jsonl": b'{"text": "a", "label": "b"}\n'}[name.rpartition(".")[2]]
    (folder / name).write_bytes(first + b"word " * 20_000_000 + b"\n")
    message = refused(capsys, folder, "train", name, *FAST)
    assert f"{name}: line 2 is longer than 50.0 MB." in message
    assert "are the line breaks missing?" in message


def test_bad_utf8_in_the_middle_is_named_by_line_and_column(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = GOOD.encode().splitlines(keepends=True)
    lines[2] = "größer schöner,neg\n".encode()
    lines[30:34] = [b"caf\xe9 au lait,pos\n"] * 4
    (folder / "mixed.csv").write_bytes(b"".join(lines))
    message = refused(capsys, folder, "train", "mixed.csv", *FAST)
    assert "mixed.csv, line 31, column 4" in message
    assert "4 of 60 rows" in message
    assert "data.encoding=cp1252" in message
    trained(capsys, "mixed.csv", "data.bad_rows=skip")


def test_a_label_in_test_that_training_never_saw_is_named_with_its_line(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "train.csv").write_text(GOOD)
    (folder / "test.csv").write_text("text,label\nfine,pos\nodd,nge\n")
    message = refused(capsys, folder, "train", "train.csv", "data.test=test.csv", *FAST)
    assert "test.csv, line 3" in message
    assert "'nge'" in message
    assert "Did you mean 'neg'?" in message


def test_evaluating_on_a_label_that_training_never_saw_is_refused_too(
    reviews_run: Run, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "new.csv").write_text("review,opinion\nfine,good\nodd,mixed\n")
    message = refused(capsys, folder, "evaluate", str(reviews_run.folder), "new.csv")
    assert "new.csv, line 3" in message
    assert "'mixed'" in message


def test_evaluating_on_a_table_without_the_columns_names_what_there_is(
    reviews_run: Run, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "new.csv").write_text("text,opinion\nfine,good\n")
    message = refused(capsys, folder, "evaluate", str(reviews_run.folder), "new.csv")
    assert "new.csv: there is no column 'review'.\n  Available: opinion, text." in message


@pytest.mark.parametrize("verb", ["train", "data"])
def test_a_recipe_of_a_newer_seqlab_asks_for_an_update(
    verb: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "future.toml").write_text('format = 3\n[data]\ntrain = "x.csv"\n[rockets]\nfuel = 3\n')
    message = refused(capsys, folder, verb, "future.toml")
    assert "future.toml: the recipe has format 3," in message
    assert "pip install --upgrade seqlab" in message


def test_a_bidirectional_language_model_is_refused_with_the_reason(
    story_txt: Path, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    message = refused(capsys, folder, "train", str(story_txt), "--model", "bilstm", *FAST)
    assert "model.bidirectional" in message
    assert "future" in message


@pytest.mark.parametrize("setting", ["training.batch_size=20", "model.kind=transformer"])
def test_classification_of_plain_text_says_that_there_is_no_label(
    setting: str, story_txt: Path, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    message = refused(capsys, folder, "train", str(story_txt), "--task", "classification", setting)
    assert "classification needs a label" in message


def test_hostile_names_labels_and_texts_reach_the_terminal_as_codes(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    name = "evil\x1b[2J.csv"
    (folder / name).write_text(GOOD.replace(",pos", ",\x1b[31mpos\u202e"))
    ended = run(capsys, "train", name, *(word for word in FAST if word != "--quiet"))
    assert ended.code == 0, ended.err
    for text in (ended.out, ended.err):
        assert "\x1b" not in text
        assert "\u202e" not in text
    folder_name = ended.out.partition("report: ")[2].partition("/report.html")[0]
    for words in (
        ("evaluate", folder_name),
        ("predict", folder_name, "film \x1b[5m", "--top", "2"),
        ("data", name),
    ):
        found = run(capsys, *words)
        assert found.code == 0, found.err
        assert "\x1b" not in found.out + found.err
        assert "\u202e" not in found.out + found.err
        assert r"\x1b[31mpos\u202e" in found.out


def test_a_run_folder_that_is_taken_is_not_written_over(
    reviews_run: Run, reviews_csv: Path, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    message = refused(capsys, folder, "train", str(reviews_csv), "--out", str(reviews_run.folder), *FAST)
    assert "already contains a run" in message
    assert "seqlab train --resume" in message


def test_continuing_text_with_a_classifier_says_what_it_can_do(
    reviews_run: Run, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    message = refused(capsys, folder, "generate", str(reviews_run.folder))
    assert "does not continue text" in message
    assert "seqlab predict" in message


@pytest.mark.parametrize(
    ("words", "suggested"),
    [
        (("train", "a.csv", "--epochs", "3"), "training.epochs=3"),
        (("train", "a.csv", "--lr=0.1"), "training.learning_rate=0.1"),
        (("train", "a.csv", "--batch-size", "8"), "training.batch_size=8"),
        (("train", "--hidden_size", "64", "a.csv"), "model.hidden_size=64"),
        (("train", "a.csv", "--forget-bias", "2"), "model.cell.forget_bias=2"),
        (("train", "a.csv", "--seed", "2"), "data.seed=2, training.seed=2 or decoding.seed=2"),
        (("train", "a.csv", "--optimizer"), "training.optimizer=VALUE"),
        (("train", "a.csv", "--carry-state", "true"), "language_model.stateful=true"),
        (("train", "a.csv", "--learning-rat", "1"), "training.learning_rate=1"),
        (("train", "a.csv", "--minute", "3"), "'--minutes'"),
        (("compare", "a.csv", "--models", "lstm,gru", "--steps", "5"), "training.steps=5"),
        (("data", "a.csv", "--label", "stars"), "data.label=stars"),
        (("predict", "r", "--temperature", "0.5"), "--decoding temperature=0.5"),
        (("evaluate", "r", "--length-penalty", "1"), "--decoding length_penalty=1"),
    ],
)
def test_an_unknown_option_is_answered_with_the_setting_of_that_name(
    words: tuple[str, ...], suggested: str, capsys: pytest.CaptureFixture[str]
) -> None:
    ended = run(capsys, *words)
    assert ended.code == 2
    assert f"Did you mean {suggested}? See: seqlab {words[0]} --help" in ended.err


def test_an_unknown_option_of_a_command_without_settings_is_not_answered_with_one(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert "training." not in run(capsys, "evaluate", "r", "--batch-size", "8").err
