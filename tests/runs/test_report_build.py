"""What the report of a run says about its gradients, and what its curves show."""

from __future__ import annotations

from typing import Any

import pytest

import seqlab
from seqlab.pages.report_data import Report
from seqlab.runs.folder.layout import JOURNAL
from seqlab.runs.report import build
from seqlab.runs.run import Run
from seqlab.training.clip_advice import suggest_clip
from seqlab.training.journal import read_journal


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    folder = tmp_path_factory.mktemp("report")
    story = folder / "story.txt"
    story.write_text("the cat sat on the mat and the dog sat on the log\n" * 40, encoding="utf-8")
    settings = ["language_model.window=16", "training.clip_norm=0.3", "model.hidden_size=8"]
    return seqlab.train(story, *settings, model="lstm", steps=12, out=folder / "run")


@pytest.mark.slow
@pytest.mark.spec(91)
def test_the_report_names_the_average_gradient_norm_and_suggests_a_limit(run: Run) -> None:
    norms = [
        event["gradient_norm"] for event in read_journal(run.folder / JOURNAL) if event["event"] == "step"
    ]
    assert len(norms) == 12
    assert suggest_clip(norms, limit=0.3).sentence() in (run.folder / "report.html").read_text(
        encoding="utf-8"
    )


def test_a_training_of_seconds_is_not_rounded_to_minutes(run: Run) -> None:
    seconds = round(run.results.raw["training"]["seconds"])
    assert f"{seconds} s on " in (run.folder / "report.html").read_text(encoding="utf-8")
    assert f" updates in {seconds} s, best at" in (run.folder / "card.md").read_text(encoding="utf-8")


def test_every_curve_has_the_numbers_of_the_journal(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    reports: list[Report] = []
    monkeypatch.setattr(build, "render_report", lambda report: reports.append(report) or "")
    events: list[dict[str, Any]] = [
        {"event": "step", "step": 1, "loss": 3.0, "gradient_norm": 0.9, "learning_rate": 0.01},
        {"event": "step", "step": 2, "loss": 2.5, "gradient_norm": 0.7, "learning_rate": 0.02},
        {"event": "validated", "step": 2, "train_loss": 2.75, "valid_loss": 2.9, "train_accuracy": 0.5,
         "valid_accuracy": 0.4},
        {"event": "step", "step": 3, "loss": 2.0, "gradient_norm": None, "learning_rate": 0.015},
        {"event": "validated", "step": 3, "train_loss": 2.0, "valid_loss": 2.8, "train_accuracy": 0.6,
         "valid_accuracy": 0.45},
        {"event": "finished", "step": 3},
    ]  # fmt: skip
    monkeypatch.setattr(build, "read_run_journal", lambda _: events)
    build.run_report(run)
    curves = {
        (curve.title, series.name): (list(series.xs), list(series.ys))
        for curve in reports[0].curves
        for series in curve.series
    }
    norms = curves.pop(("Gradient norm before clipping", "gradient norm"))
    assert norms[0] == [1, 2, 3]
    assert norms[1] == pytest.approx([0.9, 0.7, float("nan")], nan_ok=True)
    assert curves == {
        ("Loss", "training"): ([1, 2, 3], [3.0, 2.5, 2.0]),
        ("Loss", "validation"): ([2, 3], [2.9, 2.8]),
        ("Accuracy", "training"): ([2, 3], [0.5, 0.6]),
        ("Accuracy", "validation"): ([2, 3], [0.4, 0.45]),
        ("Learning rate", "learning rate"): ([1, 2, 3], [0.01, 0.02, 0.015]),
    }
