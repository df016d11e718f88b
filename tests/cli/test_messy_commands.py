"""Messy files through the commands: guesses come first, commands that are recommended work, tables keep their rows."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from seqlab.core.errors import DataError
from seqlab.sources.base import Row
from seqlab.sources.open_source import open_source
from seqlab.sources.settings import DataSettings
from seqlab.sources.splitting import hold_out
from tests.cli.running import run

FAST = ("training.steps=2", "training.threads=1", "model.hidden_size=4")
GOOD = [[str(n), f"a {'fine' if n % 2 else 'dull'} film, {n}", "pos" if n % 2 else "neg"] for n in range(80)]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SEQLAB_CACHE", str(tmp_path / "cache"))
    return tmp_path


def write_table(path: Path, rows: list[list[str]], delimiter: str = ",") -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, delimiter=delimiter).writerows(rows)


def test_answers_are_the_table_with_further_columns(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_table(folder / "train.csv", [["id", "text", "label"], *GOOD], ";")
    assert run(capsys, "train", "train.csv", *FAST, "--out", "r", "--quiet").code == 0
    asked = [
        ["text", "note", "prediction"],
        ["a fine film", "x", "?"],
        ["", "y", "?"],
        ["two;parts", "z", "?"],
    ]
    write_table(folder / "new.csv", asked, ";")
    with (folder / "new.csv").open("a") as file:
        file.write("one field too few;w\n")
    ended = run(capsys, "predict", "r", "--file", "new.csv", "--out", "answers.csv")
    assert ended.code == 0, ended.err
    assert "4 rows" in ended.err
    assert "2 of them" in ended.err
    with (folder / "answers.csv").open(newline="") as file:
        answers = list(csv.reader(file, delimiter=";"))
    assert answers[0] == [*asked[0], "prediction_2", "probability"]
    assert [row[:3] for row in answers[1:4]] == asked[1:]
    assert [row[3] in ("pos", "neg") for row in answers[1:]] == [True, False, True, False]
    assert answers[4][:2] == ["one field too few", "w"]
    assert 0 <= float(answers[1][4]) <= 1
    objects = [{"id": 1, "text": "fine", "deep": {"a": 1}}, {"id": 2, "text": None}]
    (folder / "new.jsonl").write_text("".join(json.dumps(one) + "\n" for one in objects))
    assert run(capsys, "predict", "r", "--file", "new.jsonl", "--out", "answers.jsonl").code == 0
    lines = [json.loads(line) for line in (folder / "answers.jsonl").read_text().splitlines()]
    assert [{name: line[name] for name in ("id", "text")} for line in lines] == [
        {"id": 1, "text": "fine"},
        {"id": 2, "text": None},
    ]
    assert lines[0]["deep"] == {"a": 1}
    assert (lines[0]["prediction"] in ("pos", "neg"), lines[1]["prediction"]) == (True, None)
    for words in (("--out", "x.csv"), ("--file", "new.csv", "--out", "new.csv")):
        assert run(capsys, "predict", "r", *words).code == 2


def test_rows_that_cannot_be_read_stay_in_the_table_of_answers(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_table(folder / "train.csv", [["id", "text", "label"], *GOOD])
    assert run(capsys, "train", "train.csv", *FAST, "--out", "r", "--quiet").code == 0
    lines = [b"id,text", b"1,a fine film", b'2,"dull" film', b",", b"3,caf\xff", b"4,a dull film", b'5,"open']
    (folder / "new.csv").write_bytes(b"\n".join([*lines, b"6,film", b""]))
    ended = run(capsys, "predict", "r", "--file", "new.csv", "--out", "answers.csv")
    assert ended.code == 0, ended.err
    assert "7 rows, 5 of them" in ended.err
    with (folder / "answers.csv").open(newline="", encoding="utf-8") as file:
        answers = list(csv.reader(file, strict=True))
    assert [row[0] for row in answers[1:]] == ["1", "2", "", "3", "4", "5", "6"]
    assert [row[1] for row in answers[2::4]] == ['"dull" film', '"open']
    assert {len(row) for row in answers} == {4}
    assert [row[2] in ("pos", "neg") for row in answers[1:]] == [
        True,
        False,
        False,
        False,
        True,
        False,
        False,
    ]


@pytest.mark.parametrize("ending", ["jsonl", "json"])
def test_json_that_cannot_be_used_stays_among_the_answers(
    ending: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_table(folder / "train.csv", [["id", "text", "label"], *GOOD])
    assert run(capsys, "train", "train.csv", *FAST, "--out", "r", "--quiet").code == 0
    rows = [
        '{"id": 1, "text": "a fine film"}',
        "[3]",
        '{"id": 2, "text": "half \\ud83d"}',
        '{"id": 3, "text": "dull"}',
    ]
    broken = ['{"id": 4, "text": '] if ending == "jsonl" else []
    content = "\n".join([*rows[:3], *broken, rows[3]]) if broken else f"[{','.join(rows)}]"
    (folder / f"new.{ending}").write_text(content, encoding="utf-8")
    ended = run(capsys, "predict", "r", "--file", f"new.{ending}", "--out", f"answers.{ending}")
    assert ended.code == 0, ended.err
    text = (folder / f"answers.{ending}").read_text(encoding="utf-8")
    answers = json.loads(text) if ending == "json" else [json.loads(line) for line in text.splitlines()]
    assert f"{len(answers)} rows, {len(answers) - 2} of them" in ended.err
    assert [row.get("id") for row in answers] == [1, None, 2, *[None for _ in broken], 3]
    assert [row["prediction"] is None for row in answers] == [
        False,
        True,
        True,
        *[True for _ in broken],
        False,
    ]
    assert all(row.keys() >= {"prediction", "probability"} for row in answers)
    assert answers[1]["unreadable"] in ("[3]", [3])


def test_the_command_that_data_recommends_works(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [[*row[:2], "" if int(row[0]) % 8 < 5 else row[2]] for row in GOOD]
    write_table(folder / "gaps.csv", [["id", "text", "label"], *rows])
    ended = run(capsys, "data", "gaps.csv")
    assert ended.code == 0, ended.err
    assert "50 of 80 rows" in ended.err
    command = ended.out.splitlines()[-1].split()
    assert command[:2] == ["seqlab", "train"]
    assert "data.bad_rows=skip" in command
    assert run(capsys, *command[1:], *FAST, "--quiet").code == 0


def test_guesses_are_told_before_an_error_and_before_slow_work(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [[*row[:2], "" if int(row[0]) % 8 < 5 else row[2]] for row in GOOD]
    write_table(folder / "gaps.csv", [["id", "text", "label"], *rows])
    ended = run(capsys, "train", "gaps.csv", *FAST)
    assert ended.code == 2
    assert ended.err.index("data.label=NAME") < ended.err.index("50 of 80 rows")
    write_table(folder / "good.csv", [["id", "text", "label"], *GOOD])
    told = run(capsys, "train", "good.csv", *FAST).err
    assert told.index("data.label=NAME") < told.index("fitting the tokenizer")
    assert told.count("data.label=NAME") == 1


def test_skipped_rows_are_told_once_and_early(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [[*row[:2], "" if int(row[0]) % 40 == 1 else row[2]] for row in GOOD]
    write_table(folder / "two.csv", [["id", "text", "label"], *rows])
    surveyed = run(capsys, "data", "two.csv")
    assert (surveyed.err.count("skipped 2 rows"), surveyed.out.count("skipped")) == (1, 0)
    trained = run(capsys, "train", "two.csv", *FAST, "--out", "r")
    assert (trained.err + trained.out).count("skipped 2 rows") == 1
    assert trained.err.index("skipped 2 rows") < trained.err.index("fitting the tokenizer")
    results = json.loads((folder / "r" / "results.json").read_text())
    assert [warning for warning in results["warnings"] if "skipped 2 rows" in warning]
    write_table(
        folder / "many.csv", [["id", "text", "label"], *([*row[:2], ""] for row in GOOD[:30]), *GOOD[30:]]
    )
    refused = run(capsys, "data", "many.csv")
    assert (refused.err.count("skipped 30 of 80 rows"), refused.out.count("skipped")) == (1, 1)


def test_a_built_in_dataset_is_named_before_it_is_read(capsys: pytest.CaptureFixture[str]) -> None:
    assert "built-in dataset 'copy'" in run(capsys, "data", "copy").err


def test_a_task_that_only_its_setting_chose_is_explained(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "t.txt").write_text("some words to read here\n" * 200)
    ended = run(capsys, "data", "t.txt", "masked_language_model.window=16")
    assert "masked_language_model.window" in ended.err
    assert "masked_language_model.window" not in run(capsys, "data", "t.txt").err


def test_labels_of_which_every_row_has_its_own_are_explained(folder: Path) -> None:
    write_table(folder / "t.csv", [["text", "label"], *([f"text {n}", f"l{n}" * 200] for n in range(50))])

    def labels(row: Row) -> list[str]:
        return [row.values["label"]]

    with pytest.raises(DataError, match=r"labels do not repeat") as caught:
        hold_out(
            open_source(folder / "t.csv", DataSettings()),
            how="random",
            valid_share=0.1,
            test_share=0.1,
            seed=0,
            labels=labels,
        )
    assert "data.label=NAME" in str(caught.value)
    assert len(str(caught.value)) < 400


def test_lines_of_a_folder_are_counted_in_each_file(folder: Path) -> None:
    (folder / "texts").mkdir()
    for number in range(5):
        (folder / "texts" / f"{number}.txt").write_text("\n".join(f"line {line}" for line in range(1, 41)))
    source = open_source(folder / "texts", DataSettings())
    parts = hold_out(source, how="tail", valid_share=0.2, test_share=0.2, seed=0).named()
    for part in parts.values():
        assert all(row.values["text"] == f"line {row.line}" for row in part.rows())
    assert sum(1 for part in parts.values() for _ in part.rows()) == 200


def test_one_step_series_are_warned_about(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [[f"2024-{n}", str(n * 0.5), str(n % 7), "up" if n % 2 else "down"] for n in range(60)]
    write_table(folder / "t.csv", [["stamp", "x", "y", "trend"], *rows])
    ended = run(capsys, "data", "t.csv", "data.sequence=stamp", "data.label=trend")
    assert "single step" in ended.out
    assert "data.sequence=NAME" in ended.out


def test_the_rows_of_every_split_are_told_also_where_there_is_one(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_table(folder / "few.csv", [["id", "text", "label"], *GOOD[:8]])
    ended = run(capsys, "train", "few.csv", *FAST, "--dry-run")
    assert ended.code == 0, ended.err
    assert "train 6, valid 1, test 1" in ended.err + ended.out


def test_a_table_without_the_text_column_is_refused_before_answers_are_written(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_table(folder / "train.csv", [["id", "text", "label"], *GOOD])
    assert run(capsys, "train", "train.csv", *FAST, "--out", "r", "--quiet").code == 0
    write_table(folder / "other.csv", [["id", "comment"], ["1", "a fine film"], ["2", "a dull film"]])
    ended = run(capsys, "predict", "r", "--file", "other.csv", "--out", "answers.csv")
    assert ended.code == 2
    assert all(fact in ended.err for fact in ("other.csv", "'text'", "comment"))
    assert not (folder / "answers.csv").exists()


def test_column_names_with_spaces_are_quoted_for_the_shell(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [[*row, f"group {number % 3}"] for number, row in enumerate(GOOD)]
    write_table(folder / "form.csv", [["id", "text", "label", "Your age group?"], *rows])
    assert "data.label='Your age group?'" in run(capsys, "data", "form.csv").err


def test_the_share_of_a_label_is_that_of_the_rows_which_have_it(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [{"text": text, "labels": ["film", label]} for _, text, label in GOOD]
    (folder / "several.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    shown = run(capsys, "data", "several.jsonl", "task=multi_label").out
    assert "film: 64 (100%)" in shown


def test_one_row_of_a_split_is_no_plural(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_table(folder / "few.csv", [["id", "text", "label"], *GOOD[:8]])
    shown = run(capsys, "data", "few.csv").out
    assert "valid: 1 row," in shown
    assert "train: 6 rows," in shown


def test_many_skipped_rows_are_a_warning_before_training_next_to_the_scores_and_in_the_report(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [
        [number, "" if place % 4 == 1 else text, label] for place, (number, text, label) in enumerate(GOOD)
    ]
    write_table(folder / "export.csv", [["id", "text", "label"], *rows])
    fact = "WARNING: skipped 20 of 80 rows (25%)"
    surveyed = run(capsys, "data", "export.csv")
    assert [" ".join(stream.split()).count(fact) for stream in (surveyed.err, surveyed.out)] == [1, 1]
    assert surveyed.out.index("WARNING: skipped") == surveyed.out.index("WARNING")
    trained = run(capsys, "train", "export.csv", *FAST, "--out", "r")
    assert trained.code == 0, trained.err
    plan, _, end = " ".join(trained.err.split()).partition("scoring the model")
    early = plan.partition("fitting the tokenizer")[0]
    assert (early.count(fact), plan.count(fact), end.count(fact)) == (1, 1, 1)
    report = (folder / "r" / "report.html").read_text(encoding="utf-8")
    assert "skipped 20 of 80 rows (25%)" in report


def test_a_test_file_with_one_label_gets_no_verdict(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_table(folder / "train.csv", [["id", "text", "label"], *GOOD])
    write_table(
        folder / "test.csv",
        [["id", "text", "label"], *([str(n), f"a fine evening, {n}", "pos"] for n in range(30))],
    )
    trained = run(capsys, "train", "train.csv", "data.test=test.csv", *FAST, "--out", "r")
    assert trained.code == 0, trained.err
    assert " ".join(trained.err.split()).count("WARNING: test: 'pos' is the only label here") == 2
    scores = json.loads((folder / "r" / "results.json").read_text())["splits"]["test"]["scores"]
    accuracy = next(score for score in scores if score["name"] == "accuracy")
    assert "'pos'" in accuracy["note"]
    assert (accuracy["low"], accuracy["baseline"], accuracy["difference"]) == (None, None, None)
    lines = [line for line in (trained.out + trained.err).splitlines() if "test: accuracy" in line]
    assert ["no 95% CI" in line for line in lines] == [True]
