"""A file of tagged words at the command line: looked at, learned, asked."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.running import run
from tests.learning.test_taggers_learn import write_followers

pytestmark = pytest.mark.slow  # trainings and commands: short each, long together

SMALL = (
    "model.hidden_size=8",
    "training.threads=1",
    "training.batch_size=16",
    "training.steps=6",
    "training.evaluate_every=3",
)


def test_a_tagger_from_the_file_to_the_answer(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    data, folder = str(write_followers(tmp_path / "words.tsv", sentences=60)), str(tmp_path / "run")
    looked = run(capsys, "data", data)
    assert looked.code == 0
    assert "words per row: minimum 3," in looked.out
    assert "labels: " in looked.out
    assert "a tag for every word: tagging; set task=NAME to change the task" in looked.err
    trained = run(capsys, "train", data, *SMALL, "--out", folder)
    assert trained.code == 0
    assert "the word's most frequent tag" in trained.out
    assert "inferred: " in trained.err.rpartition("scoring")[2]  # once more at the end
    answered = run(capsys, "predict", folder, "a b", "c")
    assert [line.partition("\t")[2].partition("\t")[2] for line in answered.out.splitlines()] == ["a b", "c"]
    assert answered.out.splitlines()[0].startswith("a/")
    several = run(capsys, "predict", folder, "a b", "--top", "2")
    assert [line.split()[1][:2] for line in several.out.splitlines()[1:]] == ["a/", "b/"]
    from_file = run(capsys, "predict", folder, "--file", data, "--json")
    assert len(from_file.json["predictions"]) == 60
    scored = run(capsys, "evaluate", folder)
    assert "    end " in scored.out  # the table of tags


def test_a_damaged_file_is_told_with_its_line(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "words.conll"
    path.write_text("the D\ndog N\n\nthe D\nbig red dog N\n")
    found = run(capsys, "train", str(path))
    assert found.code == 2
    assert "words.conll, line 5: 4 columns, expected 2 (word, tag): 'big red dog N'." in found.err
