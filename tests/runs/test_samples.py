"""Language models keep samples of what they write at several stages of training."""

from __future__ import annotations

from pathlib import Path

import pytest

import seqlab
from seqlab.runs.folder.layout import JOURNAL
from seqlab.training.journal import read_journal

TEXT = "round and round the garden, like a teddy bear.\none step, two steps, tickle you under there.\n" * 30


@pytest.mark.slow
@pytest.mark.spec(10)
def test_samples_go_from_noise_to_words_and_stand_in_the_report(tmp_path: Path) -> None:
    (tmp_path / "rhyme.txt").write_text(TEXT)
    settings = [
        "training.evaluate_every=10",
        "language_model.window=32",
        "model.hidden_size=64",
        "model.dropout=0",
        "training.learning_rate=0.01",
    ]
    run = seqlab.train(tmp_path / "rhyme.txt", *settings, model="lstm", steps=80, out=tmp_path / "run")
    stages = [event for event in read_journal(run.folder / JOURNAL) if event["event"] == "validated"]
    assert [event["step"] for event in stages] == [10, 20, 30, 40, 50, 60, 70, 80]
    noise = [event for event in read_journal(run.folder / JOURNAL) if event["event"] == "sampled"]
    assert [event["step"] for event in noise] == [1]
    known = set(TEXT.split())

    def share_of_words(sample: str) -> float:
        words = sample.split()
        return sum(word in known for word in words) / max(1, len(words))

    assert share_of_words(noise[0]["sample"]) < 0.1
    assert share_of_words(stages[0]["sample"]) < 0.5
    assert share_of_words(stages[-1]["sample"]) > 0.8
    page = (run.folder / "report.html").read_text(encoding="utf-8")
    assert "<b>step 1</b>" in page
    for stage in stages[:2] + stages[-1:]:
        assert f"<b>step {stage['step']}</b>" in page
        assert stage["sample"].split()[0] in page
