"""How commands end: exit codes, messages without tracebacks, hints."""

from __future__ import annotations

import resource
import subprocess
import sys
from pathlib import Path

import pytest

from seqlab.cli.kinds import PartKind
from seqlab.core.errors import EnvironmentProblem
from seqlab.runs.run import Run
from tests.cli.running import run


def test_seqlab_alone_shows_the_help_and_is_no_mistake(capsys: pytest.CaptureFixture[str]) -> None:
    ended = run(capsys)
    assert ended.code == 0
    assert ended.err == ""
    for verb in ("train", "data", "evaluate", "predict", "generate", "list", "explain"):
        assert f"\n  {verb} " in ended.out
    assert "seqlab train FILE" in ended.out


@pytest.mark.parametrize(
    "words", [("--help",), ("-h",), ("train", "--help"), ("predict", "-h"), ("--version",)]
)
def test_help_and_version_end_well(words: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    ended = run(capsys, *words)
    assert (ended.code, ended.err) == (0, "")
    assert "seqlab" in ended.out


@pytest.mark.parametrize("verb", ["train", "data", "evaluate", "predict", "generate", "explain"])
def test_the_help_of_a_verb_shows_examples(verb: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert f"Examples:\n    seqlab {verb} " in run(capsys, verb, "--help").out


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("trian", "x.csv"), ("'trian'", "Did you mean 'train'?", "Available: ", "evaluate")),
        (("train", "--modle", "lstm"), ("--modle", "--model")),
        (("train", "x.csv", "--minutes", "soon"), ("--minutes: expected a number, found 'soon'", "seqlab train --help")),
        (("train", "x.csv", "--seeds", "2.5"), ("--seeds: expected a whole number, found '2.5'",)),
        (("words", "x.vec", "--top", "0"), ("--top: expected a number of at least 1, found '0'",)),
        (("train", "x.csv", "--minutes"), ("seqlab train", "--minutes")),
        (("explain", "--jsn", "lstm"), ("seqlab explain", "--jsn", "Did you mean '--json'?")),
        (("--verson",), ("--verson", "Did you mean '--version'?")),
        (("train",), ("data", "seqlab train FILE", "seqlab list datasets")),
        (("train", "languages", "training.stepz=3"), ("training.stepz", "Did you mean 'steps'?")),
        (("train", "languages", "oops"), ("'oops' is not of the form KEY=VALUE", "training.steps=500")),
        (("train", "languages", "--model", "ltsm"), ("no model called 'ltsm'", "Did you mean 'lstm'?")),
        (("train", "languages", "--task", "clasification"), ("task: expected ", "'clasification'", "Did you mean 'classification'?")),
        (("train", "languages", "--minutes", "-2"), ("training.minutes: expected a number of at least 0, found -2.0",)),
        (("train", "languages", "--minutes", "nan"), ("training.minutes: expected a number of at least 0, found nan",)),
        (("train", "--resume", "runs/x", "--model", "gru"), ("--resume", "seqlab train --resume runs/x", "data.train=FILE")),
        (("train", "--resume", "runs/x"), ("runs/x: there is no run here",)),
        (("predict", "runs/x", "hello"), ("runs/x: there is no run here", "seqlab train FILE")),
        (("predict", "runs/x", "hello", "--top", "0"), ("--top 0", "at least 1")),
        (("predict", "runs/x", "hello", "--file", "x.csv"), ("texts and --file",)),
        (("evaluate", "runs/x"), ("there is no run here",)),
        (("generate", "runs/x", "--temperature", "-1"), ("decoding.temperature: expected a number of at least 0 and at most 100, found -1",)),
        (("generate", "runs/x", "--top-p", "1.5"), ("decoding.top_p: expected a number of more than 0 and at most 1, found 1.5",)),
        (("generate", "runs/x", "--tokens", "0"), ("decoding.max_tokens: expected a whole number of at least 1, found 0",)),
        (("generate", "runs/x", "--seed", str(2**70)), ("decoding.seed", f"{2**53:,}", str(2**70))),
        (("list", "modles"), ("'modles'", "Did you mean 'models'?")),
        (("explain", "training.clipnorm"), ("'training.clipnorm'", "Did you mean 'training.clip_norm'?")),
        (("evaluate",), ("seqlab evaluate: RUN is missing", "seqlab evaluate --help")),
    ],
)  # fmt: skip
def test_a_mistake_of_the_user_is_exit_code_two_and_words(
    words: tuple[str, ...],
    expected: tuple[str, ...],
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    ended = run(capsys, *words)
    assert (ended.code, ended.out) == (2, "")
    assert [word for word in expected if word not in ended.err] == [], ended.err
    assert len(ended.err.splitlines()) <= 12
    assert "Traceback" not in ended.err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "words",
    [("--debug", "explain", "wheels"), ("explain", "wheels", "--debug"), ("explain", "--debug", "wheels")],
)
def test_debug_shows_the_traceback_wherever_it_stands_and_keeps_the_exit_code(
    words: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    ended = run(capsys, *words)
    assert ended.code == 2
    assert "Traceback (most recent call last)" in ended.err
    assert ended.err.splitlines()[-2].startswith("UsageError: ")
    assert "'wheels'" in ended.err.splitlines()[-2]


def test_what_follows_two_dashes_is_data(reviews_run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    ended = run(capsys, "predict", str(reviews_run.folder), "--", "--debug", "--top")
    assert ended.code == 0
    assert [line.split("\t")[2] for line in ended.out.splitlines()] == ["--debug", "--top"]


def _fail(monkeypatch: pytest.MonkeyPatch, error: BaseException) -> None:
    def fail(_: PartKind) -> dict[str, str]:
        raise error

    monkeypatch.setattr(PartKind, "summaries", fail)


@pytest.mark.parametrize(
    ("error", "code", "words"),
    [
        (
            EnvironmentProblem("no space left.", where="runs/x", cure="Free some."),
            3,
            ("EnvironmentProblem: runs/x: no space left.", "Free some."),
        ),
        (MemoryError(), 3, ("not enough memory", "training.batch_size")),
        (
            RuntimeError(
                "[enforce fail at alloc_cpu.cpp:127] DefaultCPUAllocator: can't allocate memory: you tried to"
            ),
            3,
            ("not enough memory",),
        ),
        (
            RuntimeError("Storage size calculation overflowed with sizes=[4000000000, 1000000000]"),
            3,
            ("not enough memory", "model.hidden_size"),
        ),
        (PermissionError(13, "Permission denied", "runs/x"), 3, ("runs/x: Permission denied.", "--out")),
        (OSError(28, "No space left on device", "runs/x"), 3, ("runs/x: No space left on device.",)),
        (OSError(28, "No space left on device"), 3, ("No space left on device.", "--out")),
        (OSError(27, "File too large"), 3, ("File too large.", "--out")),
        (KeyboardInterrupt(), 130, ("Interrupted",)),
    ],
    ids=lambda value: type(value).__name__,
)
def test_trouble_that_is_not_a_mistake_has_its_own_exit_code(
    error: BaseException,
    code: int,
    words: tuple[str, ...],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    _fail(monkeypatch, error)
    ended = run(capsys, "list", "runs")
    assert (ended.code, ended.out) == (code, "")
    assert [word for word in words if word not in ended.err] == [], ended.err
    assert "Traceback" not in ended.err
    assert len(ended.err.splitlines()) <= 12


def test_a_bug_is_exit_code_one_and_asks_for_a_report(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    _fail(monkeypatch, ZeroDivisionError("division by zero"))
    ended = run(capsys, "list", "runs")
    assert (ended.code, ended.out) == (1, "")
    assert "ZeroDivisionError: division by zero" in ended.err
    assert "bug in seqlab" in ended.err


@pytest.mark.slow
def test_a_reader_that_goes_away_is_no_mistake() -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "seqlab.cli.main", "list"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 0


def test_the_help_promises_no_command_that_is_missing(capsys: pytest.CaptureFixture[str]) -> None:
    about, _, commands = run(capsys, "--help").out.partition("Commands:")
    assert "serve" in commands or "serve" not in about
    assert "train" in commands


def test_every_help_fits_eighty_columns(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    top = run(capsys, "--help").out
    commands = [
        line.split()[0] for line in top.partition("Commands:")[2].partition("\n\n")[0].split("\n")[1:]
    ]
    assert "predict" in commands
    assert "..." not in top.partition("Commands:")[2]
    pages = {"": top} | {name: run(capsys, name, "--help").out for name in commands}
    assert [(name, line) for name, page in pages.items() for line in page.split("\n") if len(line) > 80] == []
    assert [name for name, page in pages.items() if "<str>" in page or "{" in page] == []


@pytest.mark.slow
def test_a_table_of_answers_that_may_not_grow_is_told_and_leaves_nothing(
    reviews_run: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "new.csv").write_text("review\n" + "a good film\n" * 400, encoding="utf-8")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (3_000, before[1]))
    try:
        words = ["--file", str(tmp_path / "new.csv"), "--out", str(tmp_path / "answers.csv")]
        outcome = run(capsys, "predict", str(reviews_run.folder), *words)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert outcome.code == 3
    assert "answers.csv" in outcome.err
    assert "ulimit -f" in outcome.err
    assert [path.name for path in tmp_path.iterdir()] == ["new.csv"]
