"""A time budget covers the whole command: reading, training, scoring; where time is short, fewer rows are
scored, and the results say so.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from time import perf_counter
from typing import Any

import pytest

from seqlab.cli.summary_box import summary_rows
from seqlab.runs.folder.layout import CHECKPOINTS, RESULTS
from seqlab.runs.folder.manifest import verify_start
from seqlab.runs.run import Run
from seqlab.runs.train import start, timed_scoring
from seqlab.runs.train.held_out_sample import beginning, draw, size_of, unit_of
from seqlab.runs.train.scoring_forecast import MARGIN, REPORT_SECONDS, ScoringForecast, ScoringRehearsal
from seqlab.runs.train.timed_scoring import TimedScoring, shorten
from seqlab.sources.base import Row
from seqlab.sources.in_memory import InMemoryRows
from seqlab.sources.open_source import open_source
from seqlab.sources.settings import DataSettings
from seqlab.sources.survey.report import PartSurvey
from seqlab.tasks.language_model import evaluator as language_model
from seqlab.training.checkpoints.checkpoint import Checkpoints
from tests.runs import toy_runs
from tests.runs.killed_training import KillAt, Killed, prepare_toy
from tests.runs.source_runs import hurried


def results_of(run: Run) -> dict[str, Any]:
    results: dict[str, Any] = json.loads((run.folder / RESULTS).read_text(encoding="utf-8"))
    return results


# Parts of held-out data


def test_rows_are_drawn_at_random_without_repeats_in_their_order(tmp_path: Path) -> None:
    source = open_source(toy_runs.write_data("classifier", tmp_path), DataSettings())
    drawn: Counter[int] = Counter()
    for seed in range(100):
        lines = [row.line for row in draw(source, 35, seed=seed).rows()]
        assert lines == sorted(set(lines))
        assert len(lines) == 35
        drawn.update(lines)
    assert len(drawn) == 140
    assert max(abs(count - 25) for count in drawn.values()) < 25  # expected 25 of 100, deviation 4.3
    assert [row.line for row in draw(source, 35, seed=7).rows()] == [
        row.line for row in draw(source, 35, seed=7).rows()
    ]
    assert draw(source, 35, seed=1).fingerprint() != draw(source, 35, seed=2).fingerprint()
    assert len(list(draw(source, 1000, seed=1).rows())) == 140


def test_samples_of_rows_with_the_same_place_differ() -> None:
    """Their fingerprints name the stores in the cache."""

    class OneLine(InMemoryRows):
        def rows(self) -> Iterator[Row]:
            return (replace(row, line=1) for row in super().rows())

    source = OneLine("captions", ["text"], [{"text": str(number)} for number in range(100)])
    samples = [draw(source, 10, seed=seed) for seed in (1, 2)]
    assert [row.values for row in samples[0].rows()] != [row.values for row in samples[1].rows()]
    assert samples[0].fingerprint() != samples[1].fingerprint()


def test_a_text_gives_its_beginning(tmp_path: Path) -> None:
    path = toy_runs.write_data("language_model", tmp_path)
    source = open_source(path, DataSettings())
    part = draw(source, 100, seed=1)
    assert "".join(part.chunks(1000)) == path.read_text(encoding="utf-8")[:100]  # type: ignore[attr-defined]
    assert (unit_of(source), size_of(source, PartSurvey(rows=3, characters=70))) == ("characters", 70)


def test_the_beginning_of_a_table_reads_no_further(tmp_path: Path) -> None:
    path = toy_runs.write_data("classifier", tmp_path)
    lines = path.read_text(encoding="utf-8").splitlines()
    path.write_text("\n".join([*lines[:11], "a,b,c,d"]) + "\n", encoding="utf-8")  # a bad row
    part = beginning(open_source(path, DataSettings()), 10)
    assert [row.line for row in part.rows()] == list(range(2, 12))


# How much is scored


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [
        (1000, {"test": 400, "valid": 600}),
        (1.0 + 200, {"test": 140, "valid": 60}),
        (1.0 + 700, {"test": 400, "valid": 300}),
        (0, {"test": 20, "valid": 20}),
    ],
)
def test_the_test_rows_come_first_and_the_rest_is_for_validation_rows(
    seconds: float, expected: dict[str, int]
) -> None:
    forecast = ScoringForecast(fixed=0.0, unit=1 / MARGIN)
    assert REPORT_SECONDS == 1.0
    sizes = {"test": 400, "valid": 600}
    assert shorten(sizes, forecast, seconds + (2 if seconds == 1000 else 0), fewest=20) == expected


def test_what_does_not_depend_on_rows_is_taken_off_first() -> None:
    forecast = ScoringForecast(fixed=5 / MARGIN, unit=1 / MARGIN, calibration=3 / MARGIN)
    assert forecast.seconds({"test": 10, "valid": 20}) == pytest.approx(3 + 2 * 5 + 30 + 1)
    assert shorten({"test": 100}, forecast, 50, fewest=1) == {"test": 50 - 3 - 5 - 1}


@pytest.mark.parametrize("pace", [0.5, 1.0, 2.0])
def test_the_time_of_the_first_split_decides_about_the_second(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pace: float
) -> None:
    now = [100.0]
    monkeypatch.setattr(timed_scoring, "FEWEST", {"rows": 3, "characters": 50})
    monkeypatch.setattr(ScoringRehearsal, "forecast", lambda *_, **__: ScoringForecast(0.0, 1.0))
    made = prepare_toy(
        "classifier", tmp_path, "training.minutes=1", "data.test_share=0.3", "data.valid_share=0.3"
    )
    sizes = {name: len(made.splits[name].store) for name in ("test", "valid")}
    assert min(sizes.values()) > 30
    monkeypatch.setattr(timed_scoring, "perf_counter", lambda: now[0])
    timed = TimedScoring(made, 40 * MARGIN + REPORT_SECONDS - 3)  # with 5% of a minute: time for 40 rows
    scored = {}
    for name, split in timed.splits():
        scored[name] = len(split.store)
        now[0] += pace * len(split.store)
    assert scored["test"] == 28  # seven tenths
    affordable = int((40 * MARGIN - pace * 28) / (pace * MARGIN))
    assert scored["valid"] == min(sizes["valid"], max(3, affordable))
    assert len(timed.limits) == sum(scored[name] < sizes[name] for name in scored)


def test_a_score_of_some_rows_says_how_many(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(timed_scoring, "FEWEST", {"rows": 6, "characters": 50})
    monkeypatch.setattr(ScoringRehearsal, "forecast", lambda *_, **__: ScoringForecast(0.0, 100.0))
    made = prepare_toy("classifier", tmp_path, "training.minutes=0.5")
    run = start.train(made)
    results = results_of(run)
    assert results["splits"]["test"]["sections"]["facts"]["examples"] == 6
    whole = len(made.splits["test"].store)
    assert whole > 6
    headline = results["splits"]["test"]["scores"][0]
    assert f"6 of {whole} rows" in headline["note"]
    assert f"6 of {whole} rows" in summary_rows(run)[0][1]
    warning = next(warning for warning in results["warnings"] if "test: scored" in warning)
    assert all(fact in warning for fact in (f"6 of {whole}", "random", "0.5 minutes.", "seqlab evaluate"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ScoringRehearsal, "forecast", None)
        assert Run.load(run.folder).evaluate().scores[0].value >= 0  # all rows, later


def test_a_run_in_steps_measures_no_scoring_and_scores_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ScoringRehearsal, "forecast", None)
    run = start.train(prepare_toy("classifier", tmp_path))
    assert not any("scored on" in warning for warning in results_of(run)["warnings"])


def test_reading_and_measuring_count(tmp_path: Path) -> None:
    made = prepare_toy("classifier", tmp_path, "training.minutes=5")
    assert made.scoring is not None
    assert made.budget.after > 0
    assert 0 < made.budget.before < 300
    assert made.budget.training_seconds == pytest.approx(300 - made.budget.before - made.budget.after)


def test_baselines_of_a_text_are_fitted_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fitted = []
    fit = language_model.simple_language_models
    monkeypatch.setattr(
        language_model, "simple_language_models", lambda *given: (fitted.append(1), fit(*given))[1]
    )
    with hurried():
        run = start.train(
            prepare_toy("language_model", tmp_path, "training.minutes=5", "data.test_share=0.2")
        )
    assert fitted == [1]
    assert set(results_of(run)["splits"]) == {"test", "valid"}


def test_a_resumed_run_counts_the_time_used_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = prepare_toy("classifier", tmp_path, "training.minutes=60")
    with pytest.raises(Killed):
        start.train(made, callback=KillAt(8))
    saved, _ = Checkpoints(made.folder / CHECKPOINTS, run_id=verify_start(made.folder).run_id).load()
    assert saved is not None
    assert saved.step == 5
    before = saved.state["budget"]["before"]
    assert before > 0
    budgets = []
    run = start.TrainingLoop.run
    monkeypatch.setattr(
        start.TrainingLoop,
        "run",
        lambda trainer, stop: (budgets.append(trainer.budget), run(trainer, stop))[1],
    )
    start.resume(made.folder, clock=perf_counter() - 100)
    assert budgets[0].before >= before + 100
    assert budgets[0].training_seconds <= 3600 - before - 100
