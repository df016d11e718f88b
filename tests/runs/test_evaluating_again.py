"""A finished run gives its own scores again."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import seqlab
from seqlab.runs.compare.compare import compare_runs
from tests.cli.running import run as command


@pytest.mark.slow
def test_the_baseline_chooses_on_the_validation_part_again(tmp_path: Path) -> None:
    """The thresholds of naive Bayes are chosen on the validation part, in training and whenever the run is
    scored later.
    """
    words = ("sun", "rain", "wind", "snow", "fog")
    rows = [
        {
            "text": f"{words[n % 5]} and {words[n * n % 7 % 5]} {n % 3}",
            "topics": [name for name in "abc" if (n * ord(name)) % 5 < 2],
        }
        for n in range(90)
    ]
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    small = ["training.threads=1", "training.steps=2", "training.batch_size=8", "model.hidden_size=4"]
    runs = [
        seqlab.train(tmp_path / "rows.jsonl", *small, model=kind, task="multi_label", out=tmp_path / kind)
        for kind in ("gru", "lstm")
    ]
    trained = {name: score.baseline for name, score in runs[0].results.items()}
    assert {
        score.name: score.baseline for score in seqlab.load(tmp_path / "gru").evaluate().scores
    } == trained
    compared = compare_runs([run.folder for run in runs]).reference.first.scores
    assert {score.name: score.baseline for score in compared} == trained


def test_rows_that_an_evaluation_skips_are_announced(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [f"{'good' if n % 2 else 'bad'} film {n},{'pos' if n % 2 else 'neg'}\n" for n in range(60)]
    (tmp_path / "train.csv").write_text("text,label\n" + "".join(rows))
    (tmp_path / "more.csv").write_text("text,label\ngood film,pos\nbad film,\nbad film,neg\n")
    small = ["training.threads=1", "training.steps=1", "model.hidden_size=4", "data.bad_rows=skip"]
    run = seqlab.train(tmp_path / "train.csv", *small, out=tmp_path / "run", verbose=False)
    (note,) = run.evaluate(tmp_path / "more.csv").notes
    assert "1 of 3 rows" in note
    assert "line 3" in note
    assert run.evaluate().notes == ()
    outcome = command(capsys, "evaluate", str(run.folder), str(tmp_path / "more.csv"))
    assert note in outcome.err
    assert note not in outcome.out
    as_json = command(capsys, "evaluate", str(run.folder), str(tmp_path / "more.csv"), "--json")
    assert as_json.json["notes"] == [note]


def test_data_that_changed_since_training_is_announced(tmp_path: Path) -> None:
    """The scores are those of other rows than before."""
    path = tmp_path / "train.csv"
    rows = [f"{'good' if n % 2 else 'bad'} film {n},{'pos' if n % 2 else 'neg'}\n" for n in range(60)]
    path.write_text("text,label\n" + "".join(rows))
    small = ["training.threads=1", "training.steps=1", "model.hidden_size=4"]
    run = seqlab.train(path, *small, out=tmp_path / "run", verbose=False)
    assert run.evaluate().notes == ()
    path.write_text(path.read_text().replace("film", "tale"))
    (note,) = run.evaluate().notes
    assert "changed since" in note
    assert "train, valid, test" in note
