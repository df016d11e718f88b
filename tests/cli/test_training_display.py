"""What a terminal shows of a training, on consoles of fixed width, and what a program reads."""

from __future__ import annotations

import io
import json
import re
import sys
from pathlib import Path

import pytest
from rich.console import Console

from seqlab.cli import colors, json_progress, meter
from seqlab.cli.console import say
from seqlab.cli.json_progress import JsonProgress
from seqlab.cli.meter import Meter
from seqlab.cli.progress import TerminalProgress, live_text
from seqlab.cli.score_table import show_scores
from seqlab.cli.status_line import status_line
from seqlab.cli.streams import messages
from seqlab.cli.summary_box import draw_box, summary_rows
from seqlab.cli.validation_table import ValidationTable
from seqlab.metrics.paired_difference import PairedDifference
from seqlab.metrics.score import Score
from seqlab.runs.run import Run
from seqlab.training.base import StepReport, Validation
from tests.cli.running import run as type_command

WIDTHS = (80, 140)
FACTS = {
    "train_loss": 0.512,
    "train_accuracy": 0.75,
    "valid_accuracy": 0.8125,
    "valid_macro_f1": 0.79,
    "valid_loss": 0.4321,
}


def validation(**facts: float) -> Validation:
    return Validation(0.8125, higher_is_better=True, facts=FACTS | facts)


def report(step: int, **facts: int) -> StepReport:
    return StepReport(step, 9000, 2, 0.5, 1e-3, 192.0, **facts)


class Clock:
    """Stands in for the module `time`."""

    now = 0.0

    def monotonic(self) -> float:
        self.now += 0.5
        return self.now


@pytest.fixture
def readings(monkeypatch: pytest.MonkeyPatch) -> Meter:
    monkeypatch.setattr(meter, "time", Clock())
    monkeypatch.setattr(meter, "peak_memory", lambda: 412_000_000)
    following = Meter()
    following.validation(validation())
    for step in range(1, 4):
        following.step(report(step, sequences=32, tokens=640))
    return following


@pytest.mark.parametrize("width", WIDTHS)
def test_the_live_line_has_loss_metric_rate_time_and_memory(readings: Meter, width: int) -> None:
    line = live_text(readings.step(report(1250, sequences=32, tokens=640)), width=width).plain
    assert len(line) < width
    assert line.count("\n") == 0
    for part in (
        "1,250/9,000",
        "loss 0.5000",
        "valid_accuracy 0.8125",
        "64.0 seq/s",
        "3 min 12 s left",
    ):
        assert part in line
    assert ("412 MB" in line) == (width == 140)


def test_a_stream_counts_tokens(readings: Meter) -> None:
    assert "1,280 tok/s" in status_line(readings.step(report(4, tokens=640)), width=200)


def test_a_narrow_terminal_keeps_what_matters_most(readings: Meter) -> None:
    reading = readings.step(report(1250, sequences=32))
    assert status_line(reading, width=45) == "1,250/9,000  loss 0.5000  3 min 12 s left"
    assert status_line(reading, width=12) == "1,250/9,000"


@pytest.mark.spec(45)
@pytest.mark.parametrize("width", WIDTHS)
def test_validations_are_rows_below_one_header(width: int) -> None:
    table = ValidationTable(width)
    header, first = table.lines(80, 1, validation(), is_best=True)
    (second,) = table.lines(12_800, 17, validation(valid_loss=10.5), is_best=False)
    assert header.split()[:2] == ["epoch", "step"]
    for name, value in (("train_loss", "0.5120"), ("valid_accuracy", "0.8125"), ("valid_loss", "0.4321")):
        end = header.index(name) + len(name)
        assert first[:end].endswith(value)
    assert second[: header.index("valid_loss") + 10].endswith("10.50")
    assert first.endswith("  best")
    assert max(map(len, (header, first, second))) <= width
    assert ("valid_macro_f1" in header) == (width == 140)


def test_an_accuracy_of_training_alone_is_not_shown() -> None:
    facts = {"train_loss": 0.5, "train_accuracy": 0.0, "valid_r2": 0.4}
    header, _ = ValidationTable(80).lines(
        1, 1, Validation(0.4, higher_is_better=True, facts=facts), is_best=True
    )
    assert header.split("  ")[-1] == "valid_r2"
    assert "accuracy" not in header


@pytest.mark.parametrize("width", WIDTHS)
def test_a_terminal_of_fixed_width_shows_table_and_line(width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    out = io.StringIO()
    console = Console(file=out, force_terminal=True, width=width, no_color=True)
    with TerminalProgress(console=console) as progress:
        for step in range(8997, 9001):
            progress.on_step(report(step, sequences=32))
        progress.on_validation(9000, validation(), is_best=True)
        progress.on_step(report(9000, sequences=32))
    plain = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", out.getvalue()).replace("\r", "\n")
    lines = [line for line in plain.splitlines() if line.strip()]
    assert max(map(len, lines)) <= width
    assert any(line.lstrip().startswith("epoch     step") for line in lines)
    assert any(line.endswith("best") for line in lines)
    assert any("9,000/9,000" in line for line in lines)


class Terminal(io.StringIO):
    """Standard error that says it is a terminal."""

    def isatty(self) -> bool:
        return True


def test_colors_are_for_terminals_without_no_color(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    assert colors.has_colors(Terminal())
    assert not colors.has_colors(io.StringIO())
    monkeypatch.setenv("NO_COLOR", "1")
    assert not colors.has_colors(Terminal())


@pytest.mark.parametrize("value", ["", "1"])
def test_a_warning_is_colored_unless_no_color_says_otherwise(
    value: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_COLOR", value)
    monkeypatch.setenv("TERM", "xterm")
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    say("WARNING: test: \x1b[31m leaks")
    assert ("\x1b[33mWARNING:\x1b[0m" in terminal.getvalue()) == (not value)
    assert "\x1b[31m" not in terminal.getvalue()  # what the text itself brings is shown as its code


@pytest.mark.parametrize("width", [40, *WIDTHS])
def test_the_box_fits_and_breaks_no_word(width: int) -> None:
    rows = [
        ("test accuracy", "0.8712  95% CI 0.8512 to 0.8912"),
        ("baseline", "0.7490  clearly better than naive Bayes on words"),
    ]
    lines = draw_box("reviews", rows, width=width)
    assert len({len(line) for line in lines}) == 1
    assert len(lines[0]) <= width
    assert lines[0].startswith("╭─ reviews ")
    words = " ".join(line.strip("│ ") for line in lines[1:-1]).split()
    assert {"0.8712", "clearly", "Bayes", "words"} <= set(words)


def test_the_summary_has_score_interval_baseline_digest_and_folder(reviews_run: Run) -> None:
    rows, accuracy = dict(summary_rows(reviews_run)), reviews_run.results["accuracy"]
    assert rows["test accuracy"].startswith(f"{accuracy.value:.4f}  95% CI {accuracy.low:.4f} to")
    assert rows["baseline"].startswith(f"{accuracy.baseline:.4f}")
    assert reviews_run.results.raw["training"]["weights_sha256"][:16] in rows["weights"]
    assert "seqlab reproduce" in rows["weights"]
    assert rows["run"] == str(reviews_run.folder)


def test_json_lines_tell_steps_and_validations(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(meter, "time", Clock())
    monkeypatch.setattr(json_progress, "time", Clock())
    with JsonProgress() as progress:
        for step in range(8998, 9001):
            progress.on_step(report(step, sequences=32, tokens=640))
        progress.on_validation(9000, validation(valid_loss=float("nan")), is_best=True)
    first, last, valid = map(json.loads, capsys.readouterr().err.splitlines())
    assert (first["event"], first["step"], last["step"]) == (
        "step",
        8998,
        9000,
    )  # at most one a second, and the last
    assert [first[name] for name in ("steps_per_second", "sequences_per_second")] == [None] * 2
    assert last["total_steps"] == 9000
    assert (last["loss"], last["learning_rate"], last["seconds_left"]) == (0.5, 1e-3, 192.0)
    assert (last["sequences_per_second"], last["tokens_per_second"]) == (64.0, 1280.0)
    assert last["peak_memory"] > 1_000_000
    assert valid == {"event": "validation", "step": 9000, "best": True, **FACTS, "valid_loss": None}


def test_the_time_left_is_null_until_a_step_is_timed(capsys: pytest.CaptureFixture[str]) -> None:
    with JsonProgress() as progress:
        progress.on_step(StepReport(1, 2, 0, 0.5, 1e-3, 0.0))
        progress.on_step(StepReport(2, 2, 0, 0.5, 1e-3, 0.0))
    first, last = map(json.loads, capsys.readouterr().err.splitlines())
    assert (first["seconds_left"], last["seconds_left"]) == (None, 0.0)


def test_json_lines_tell_warnings_from_messages(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(messages, "are_json", True)
    messages.write("  WARNING: 3 texts repeat\n")
    messages.write("… fitting the tokenizer")
    assert [json.loads(line) for line in capsys.readouterr().err.splitlines()] == [
        {"event": "warning", "text": "3 texts repeat"},
        {"event": "message", "text": "fitting the tokenizer"},
    ]


@pytest.mark.slow
def test_with_progress_json_every_line_of_standard_error_is_json(
    reviews_csv: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = ("training.threads=1", "training.steps=3", "model.hidden_size=8", "--model", "gru")
    outcome = type_command(
        capsys,
        "train",
        str(reviews_csv),
        *settings,
        "--out",
        str(tmp_path / "run"),
        "--json",
        "--progress",
        "json",
    )
    events = [json.loads(line) for line in outcome.err.splitlines()]
    assert {event["event"] for event in events} - {"warning"} == {"message", "step", "validation"}
    assert outcome.json["steps"] == 3
    assert type_command(capsys, "list", "nothing").err.startswith("UsageError")


def test_another_form_of_progress_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    outcome = type_command(capsys, "list", "--progress", "jsn")
    assert outcome.code == 2
    assert "json" in outcome.err


def test_scores_are_a_table_in_a_terminal_and_sentences_in_a_pipe(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    better = PairedDifference(0.41, 0.4, 0.42, 0.0002, 0.0002, 9999, 1000)
    scores = [
        Score("accuracy", 0.91, 0.9, 0.92, 0.5, "majority class", difference=better),
        Score("perplexity", 1234.5, note="with <unk>"),
    ]
    show_scores("test", scores)
    assert capsys.readouterr().out == "".join(f"test: {score.describe()}\n" for score in scores)
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "80")
    show_scores("test", scores)
    header, first, second, *rest = capsys.readouterr().out.splitlines()
    assert first.split() == ["accuracy", "0.9100", "0.9000", "to", "0.9200", "0.5000", "clearly", "better"]
    assert second.split() == ["perplexity", "1,234"]  # no interval and no baseline
    assert (
        first.index("0.9100") + 6 == second.index("1,234") + 5 == header.index("value") + 5
    )  # right-aligned
    assert rest == ["baseline: majority class", "perplexity: with <unk>"]
