"""Run a story: every command and every block of Python of a page, in one folder and one process."""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.cli.running import Outcome, run
from tests.docs.story import PUBLISHED_WEIGHTS, Code, Command, Saved, Step, page_name, steps_of

ANSI_QUOTED = re.compile(r"\$'([^']*)'")
"""A word of bash with escapes: $'two\\nlines'."""
AFTER = ("head", "cut")
"""What may follow a command behind `|`; it is not run."""

EARLIER_RUNS = {
    "runs/attention": "train reverse --model gru model.hidden_size=96 --out runs/attention",
    "runs/attention-2": "train reverse --model gru model.hidden_size=96 training.seed=2 --out runs/attention-2",
    "runs/corpus-transformer": "train corpus data.source=en data.target=de --model transformer --out runs/corpus-transformer",
    "runs/dates": "train dates --model gru --out runs/dates",
    "runs/languages-compared": "compare languages --models gru,lstm,cnn training.steps=300 training.threads=1",
    "runs/names": "train names.conll --out runs/names",
    "runs/novel": "train novel.txt --model gru --out runs/novel",
    "runs/recall-gru-5": "train recall data.gap=5 --model gru --out runs/recall-gru-5",
    "runs/reviews": "train titled.csv data.text=title,body data.label=label --out runs/reviews",
    "runs/reviews-cnn": "train reviews.csv --model cnn --out runs/reviews-cnn",
    "runs/reviews-lstm": "train reviews.csv --model lstm --out runs/reviews-lstm",
}
"""Runs that a reader has from another page, or by a command in a sentence, and how to make them."""


class Storyteller:
    """Runs the steps of one page in the current folder."""

    def __init__(
        self, page: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        self.page = page
        self.capsys = capsys
        self.monkeypatch = monkeypatch
        self.names: dict[str, Any] = {"__name__": "__main__"}

    def tell(self, steps: Sequence[Step]) -> None:
        """Run the steps one after the other; the first that fails ends the story with its line."""
        for step in steps:
            try:
                self.run(step)
            except BaseException as error:
                raise AssertionError(f"{page_name(self.page)}:{step.line}: {error!r}") from error

    def run(self, step: Step) -> None:
        match step:
            case Command():
                self.make_earlier_runs(step.text)
                self.command(step)
            case Code():
                self.make_earlier_runs(step.text)
                self.code(step)
            case Saved():
                Path(step.name).write_text(step.text, encoding="utf-8")

    def make_earlier_runs(self, text: str) -> None:
        for folder in re.findall(r"(?<!--out )runs/[\w-]+", text):
            if folder in EARLIER_RUNS and not Path(folder).exists():
                outcome = self.typed(f"seqlab {EARLIER_RUNS[folder]}")
                assert outcome.code == 0, outcome.err

    def code(self, step: Code) -> None:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(step.text, self.page.name, "exec"), self.names)  # our own page
        if step.prints is not None:
            assert printed.getvalue() == step.prints, (
                f"prints\n{printed.getvalue()}and the page says\n{step.prints}"
            )

    def command(self, step: Command) -> None:
        outcome = self.typed(step.text)
        refused = re.match(r"(\w*Error): ", step.shown)
        if refused:
            assert outcome.code != 0, f"{step.text}: not refused"
            assert refused[1] in outcome.err
        else:
            assert outcome.code == 0, f"{step.text}\n{outcome.err}"
            if step.reason == PUBLISHED_WEIGHTS:  # what the page shows was printed with the same weights
                assert step.shown.strip() in f"{outcome.out}{outcome.err}"

    def typed(self, line: str) -> Outcome:
        """Type a line into the shell: `seqlab WORDS`, with `cat FILE |` before it and a filter behind it."""
        line = os.path.expandvars(ANSI_QUOTED.sub(lambda match: shlex.quote(_unescaped(match[1])), line))
        stages = [shlex.split(stage, comments=True) for stage in line.split(" | ")]
        if stages[0][0] == "cat":
            (_, file), *stages = stages
            self.monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(Path(file).read_bytes())))
        (name, *words), *after = stages
        assert name == "seqlab", "only seqlab commands are run; give the block a comment <!-- not run: … -->"
        assert all(stage[0] in AFTER for stage in after), line
        return run(self.capsys, *(self.filled(word) for word in words))

    def filled(self, word: str) -> str:
        """What a reader puts in place of a placeholder: a file of theirs, and the run that they have just made."""
        if word == "FILE":
            return "reviews.csv"
        if word in ("RUN", "runs/RUN"):
            return str(max(Path("runs").iterdir(), key=lambda folder: folder.stat().st_ctime_ns))
        return word


def _unescaped(text: str) -> str:
    return text.encode().decode("unicode_escape")


def is_study(step: Step) -> bool:
    return isinstance(step, Command) and step.text.startswith("seqlab study ")


def needs_plugin(step: Step) -> bool:
    return isinstance(step, Command) and "--plugin" in step.text


def is_benchmark(step: Step) -> bool:
    return isinstance(step, Command) and "python -m benchmarks" in step.text


def weights_story_of(page: Path) -> list[Step]:
    """What runs where published weights are installed."""
    return [step for step in steps_of(page) if step.reason == PUBLISHED_WEIGHTS]


def story_of(page: Path) -> list[Step]:
    """What is run of a page in a story of its own.

    Studies take seconds each and stand on many pages: each is run once. Commands with plug-ins are run by
    tests/plugins, each in a process of its own, since a part can be registered only once. Benchmarks measure for
    minutes.
    """
    elsewhere = (is_study, needs_plugin, is_benchmark)
    return [step for step in steps_of(page) if not (step.reason or any(test(step) for test in elsewhere))]
