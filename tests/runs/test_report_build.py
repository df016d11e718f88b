"""What the report of a run says about its gradients."""

from __future__ import annotations

from pathlib import Path

import pytest

import seqlab
from seqlab.runs.folder.layout import JOURNAL
from seqlab.training.clip_advice import suggest_clip
from seqlab.training.journal import read_journal


@pytest.mark.spec(91)
def test_the_report_names_the_average_gradient_norm_and_suggests_a_limit(tmp_path: Path) -> None:
    story = tmp_path / "story.txt"
    story.write_text("the cat sat on the mat and the dog sat on the log\n" * 40, encoding="utf-8")
    settings = ["language_model.window=16", "training.clip_norm=0.3", "model.hidden_size=8"]
    run = seqlab.train(story, *settings, model="lstm", steps=12, out=tmp_path / "run")
    norms = [
        event["gradient_norm"] for event in read_journal(run.folder / JOURNAL) if event["event"] == "step"
    ]
    assert len(norms) == 12
    assert suggest_clip(norms, limit=0.3).sentence() in (run.folder / "report.html").read_text(
        encoding="utf-8"
    )
