"""Classification of every shape through the command line, and what real tables hold."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from seqlab.runs.folder.manifest import complete_manifest, read_manifest
from tests.cli.conftest import SMALL
from tests.cli.running import Outcome, run

FAST = ("training.steps=2", "model.hidden_size=4", *SMALL)
ROWS = [(f"a {'fine' if i % 2 else 'dull'} film number {i}", "pos" if i % 2 else "neg") for i in range(40)]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def table(folder: Path, rows: list[tuple[str, str]], name: str = "t.csv") -> str:
    (folder / name).write_text(
        "text,label\n" + "".join(f'"{text}","{label}"\n' for text, label in rows), encoding="utf-8"
    )
    return name


def trained(capsys: pytest.CaptureFixture[str], *words: str) -> Outcome:
    ended = run(capsys, "train", *words, *FAST)
    assert ended.code == 0, ended.err
    return ended


@pytest.mark.slow
@pytest.mark.spec(5)
def test_blanks_around_labels_are_removed_and_said_and_case_and_gaps_are_told(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [
        *ROWS,
        ("one more fine film", "pos "),
        ("and a dull one", " neg"),
        ("a film in capitals", "Pos"),
        ("nobody said", "nan"),
    ]
    ended = trained(capsys, table(folder, rows), "--out", "r", "data.valid_share=0.2")
    assert re.search(r"train: removed whitespace around [12] labels?", ended.err)
    assert re.search(r"labels differ only in case or whitespace: 'pos' \(\d+\), 'Pos' \(1\)", ended.err)
    said = [ended.err.index(words) for words in ("differ only in case", "step ")]
    assert said == sorted(said)  # before the training
    assert "labels that may mark missing values: 'nan' (1)" in ended.err
    assert json.loads((folder / "r/tokens/labels.json").read_text())["labels"] == ["Pos", "nan", "neg", "pos"]
    assert "2 classes have one example and will hardly be learned: Pos, nan" in ended.err


def test_a_label_column_without_labels_is_refused_with_the_line(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    name = table(folder, [(text, "") for text, _ in ROWS])
    ended = run(capsys, "train", name, "data.text=text", "data.label=label", *FAST)
    assert ended.code == 2
    assert "t.csv, line 2: column 'label' is empty." in ended.err


@pytest.mark.slow
def test_a_document_of_200000_tokens_is_cut_and_said(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    long = "fine and then some more of it " * 25_000 + "the end"
    ended = trained(capsys, table(folder, [*ROWS, (long, "pos")]), "--out", "r")
    assert "sequences are longer than" in ended.err
    assert "data.max_length=0" in ended.err
    assert len((folder / "r/report.html").read_text()) < 500_000


@pytest.mark.slow
def test_emoji_and_text_from_right_to_left_reach_the_report(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    odd = [("סרט נפלא 😀", "pos"), ("فيلم ممل 👎🏽", "neg"), ("cafe\u0301 noir", "pos")]
    rows = ROWS + [(f"{text} {i}", label) for i in range(9) for text, label in odd]
    trained(capsys, table(folder, rows), "--out", "r", "data.test_share=0.4")
    page = (folder / "r/report.html").read_text(encoding="utf-8")
    assert 'class="text" dir="auto">' in page
    assert any(text in page for text, _ in odd)
    answered = run(capsys, "predict", "r", "סרט 😀", "\u200f", "--json")
    assert [len(each["ranking"]) for each in answered.json["predictions"]] == [1, 1]


@pytest.mark.slow
def test_several_columns_several_labels_and_numbers_train_and_answer(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = [
        {"title": f"title {i} of it", "body": text, "topics": "a|b" if i % 3 else "", "points": i / 7}
        for i, (text, _) in enumerate(ROWS)
    ]
    (folder / "t.csv").write_text(
        "title,body,topics,points\n" + "".join(",".join(map(str, line.values())) + "\n" for line in lines)
    )
    several = trained(
        capsys, "t.csv", "data.text=title,body", "data.label=topics", "--task", "multi_label", "--out", "m"
    )
    assert "labels are separated by '|'; set data.label_separator=X" in several.err
    assert "rows have no label" in several.err
    assert "test: micro_f1" in several.out
    question = '{"title": "title 3", "body": "a fine film"}'
    (found,) = run(capsys, "predict", "m", question, "--json").json["predictions"]
    assert {name for name, _ in found["ranking"]} == {"a", "b"}
    plain = run(capsys, "predict", "m", "a fine film")
    assert (plain.code, "several texts (title, body)" in plain.err) == (2, True)
    number = trained(capsys, "t.csv", "data.text=body", "data.label=points", "--out", "n")
    assert "task regression" in number.err
    assert "test: rmse" in number.out
    answers = run(capsys, "predict", "n", "--file", "t.csv").out.splitlines()
    assert len(answers) == 40
    assert " to " in answers[0].split("\t")[1]
    assert "Predicted and true values" in (folder / "n/report.html").read_text()
    again = run(capsys, "evaluate", "m", "--json").json
    assert {score["name"] for score in again["scores"].values()} >= {"micro_f1", "subset_accuracy"}


@pytest.mark.slow
@pytest.mark.spec(136)
@pytest.mark.spec(179)
def test_choices_of_another_run_and_damaged_ones_are_refused(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    trained(capsys, table(folder, ROWS), "--out", "r", "model.pooling=queries")
    assert "Attention of the learned queries" in (folder / "r/report.html").read_text()
    path = folder / "r/choices.json"
    whole = json.loads(path.read_text())
    manifest = read_manifest(folder / "r")
    for change, words in (
        ({"run": "0"}, "belong to another run"),
        ({"choices": {"temperature": -1}}, "expected a number from 0.001 to 1000"),
    ):
        path.write_text(json.dumps(whole | change))
        ended = run(capsys, "predict", "r", "fine")
        assert (ended.code, "r/choices.json" in ended.err, "seqlab train --resume r" in ended.err) == (
            2,
            True,
            True,
        ), ended.err
        complete_manifest(folder / "r", manifest)  # somebody who computes checksums too
        ended = run(capsys, "predict", "r", "fine")
        assert (ended.code, words in ended.err) == (2, True), ended.err
    path.unlink()
    ended = run(capsys, "predict", "r", "fine")
    assert (ended.code, "r/choices.json" in ended.err, "seqlab train --resume r" in ended.err) == (
        2,
        True,
        True,
    ), ended.err
