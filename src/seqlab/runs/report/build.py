"""Build the report page of a run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from seqlab.core.git_state import GitState
from seqlab.metrics.score import Score
from seqlab.models.short_name import short_name
from seqlab.pages.numbers import count_of, format_duration
from seqlab.pages.report import render_report
from seqlab.pages.report_data import (
    GeneratedSample,
    LineChart,
    LineSeries,
    ReferenceLine,
    Report,
    ScoreLine,
    VerticalMarker,
)
from seqlab.runs.folder.run_journal import read_run_journal
from seqlab.runs.report.next_steps import after_training
from seqlab.training.clip_advice import suggest_clip

if TYPE_CHECKING:
    from seqlab.runs.run import Run

MOST_SAMPLES = 8


def run_report(run: Run) -> str:
    """Return the report of a run as one self-contained HTML page."""
    raw = run.results.raw
    events = read_run_journal(run.folder)
    return render_report(
        Report(
            title=run.folder.name,
            subtitle=(
                f"{run.recipe.task.replace('_', ' ')}, {short_name(run.recipe.model)}, {run.num_parameters:,}"
                f" parameters, {run.recipe.data.train}"
            ),
            created=raw["provenance"]["created"],
            summary=[*_summary(raw), *_clipping(events, run.recipe.training.clip_norm)],
            scores=_scores(raw),
            curves=_curves(events, raw),
            samples=_samples(events),
            warnings=raw["warnings"],
            recipe=run.recipe.to_toml(),
            next_commands=after_training(run),
            sections=run.results.sections,
        )
    )


def _summary(raw: dict[str, Any]) -> list[tuple[str, str]]:
    facts, training = raw["provenance"], raw["training"]
    git = GitState.from_json(facts.get("git"))
    return [
        ("parameters", f"{training['parameters']:,}{_trained(training)}"),
        (
            "training time",
            f"{format_duration(training['seconds'])} on {count_of(facts['threads'], 'thread')} ({facts['device']})",
        ),
        ("steps", f"{training['steps']:,}, best at {training['best_step']:,}"),
        *_weights(training),
        ("seed", str(facts["seed"])),
        ("versions", f"seqlab {facts['seqlab']}, torch {facts['torch']}, Python {facts['python']}"),
        *([("git", git.describe())] if git else []),
        *((f"{name} data (fingerprint)", fingerprint) for name, fingerprint in facts["data"].items()),
    ]


def _trained(training: dict[str, Any]) -> str:
    """The number of trained parameters, if some are frozen."""
    trained = training.get("trained_parameters", training["parameters"])
    return f", {trained:,} of them trained" if trained < training["parameters"] else ""


def _weights(training: dict[str, Any]) -> list[tuple[str, str]]:
    """Which weights validated better, if the run averages."""
    if not training.get("candidates"):
        return []
    values = ", ".join(f"{name} {value:.4f}" for name, value in training["candidates"].items())
    return [("saved weights", f"{training['weights']} (on validation data: {values})")]


def _clipping(events: list[dict[str, Any]], clip_norm: float) -> list[tuple[str, str]]:
    """A suggestion for the clipping norm from the gradient norms."""
    norms = [
        event["gradient_norm"]
        for event in events
        if event["event"] == "step" and event.get("gradient_norm") is not None
    ]
    return [("clipping", suggest_clip(norms, limit=clip_norm).sentence())] if norms else []


def _scores(raw: dict[str, Any]) -> list[ScoreLine]:
    return [
        _score_line(split, Score.from_json(entry))
        for split, part in raw["splits"].items()
        for entry in part["scores"]
    ]


def _score_line(split: str, score: Score) -> ScoreLine:
    return ScoreLine(
        split=split,
        name=score.name.replace("_", " "),
        value=score.value,
        low=score.low,
        high=score.high,
        baseline=score.baseline,
        baseline_name=score.baseline_name,
        higher_is_better=score.higher_is_better,
        method=score.method,
        verdict=score.verdict or "",
        comparison=score.comparison(score.baseline_name or "the baseline"),
        note=score.note,
    )


def _curves(events: list[dict[str, Any]], raw: dict[str, Any]) -> list[LineChart]:
    steps = [event for event in events if event["event"] == "step"]
    checks = [event for event in events if event["event"] == "validated"]
    mark = [VerticalMarker("best", raw["training"]["best_step"])]
    curves = [
        LineChart(
            "Loss", "step", "nats",
            [_series("training", steps, "loss"), _series("validation", checks, "valid_loss")],
            marks=mark, references=_loss_reference(raw),
        )
    ]  # fmt: skip
    if any("valid_accuracy" in event for event in checks):
        accuracy = [
            _series("training", checks, "train_accuracy"),
            _series("validation", checks, "valid_accuracy"),
        ]
        curves.append(LineChart("Accuracy", "step", "accuracy", accuracy, marks=mark))
    curves.append(
        LineChart(
            "Gradient norm before clipping",
            "step",
            "norm",
            [_series("gradient norm", steps, "gradient_norm")],
            log_y=True,
        )
    )
    curves.append(
        LineChart("Learning rate", "step", "rate", [_series("learning rate", steps, "learning_rate")])
    )
    return curves


def _loss_reference(raw: dict[str, Any]) -> list[ReferenceLine]:
    for part in raw["splits"].values():
        for entry in part["scores"]:
            if entry["name"] in ("nats_per_token", "nats_per_masked_token") and entry["baseline"] is not None:
                return [ReferenceLine(entry["baseline_name"], entry["baseline"])]
    return []


def _series(name: str, events: list[dict[str, Any]], key: str) -> LineSeries:
    values = [event.get(key) for event in events]
    return LineSeries(
        name,
        [event["step"] for event in events],
        [float("nan") if value is None else float(value) for value in values],
    )


def _samples(events: list[dict[str, Any]]) -> list[GeneratedSample]:
    """Choose samples at increasing intervals, from the noise of the first updates to the final quality.

    The first and the last are always included.
    """
    early = [event for event in events if event["event"] == "sampled"]
    validations = [event for event in events if event["event"] == "validated" and event.get("sample")]
    most = MOST_SAMPLES - len(early)
    if len(validations) > most:
        places = sorted({round((len(validations) - 1) * (place / (most - 1)) ** 2) for place in range(most)})
        validations = [validations[place] for place in places]
    return [
        GeneratedSample(
            step=event["step"],
            prompt="",
            text=event["sample"],
            valid_loss=event.get("valid_loss"),
            train_loss=event.get("train_loss"),
        )
        for event in early + validations
    ]
