"""Random flips and cuts over everything that a training reads: its archive, its cache, its folder. None is silent.

Silent is another answer, or other arrays, without an error and without a word.
"""

from __future__ import annotations

import gzip
import json
import random
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import seqlab
from seqlab.core.errors import SeqlabError
from seqlab.core.notify import ignore
from seqlab.recipes.read import check
from seqlab.runs.compare.compare import compare_runs
from seqlab.runs.compare.comparison_page import write_comparison
from seqlab.runs.report.build import run_report
from seqlab.runs.run import Run
from seqlab.runs.train.prepare import prepare
from seqlab.runs.train.start import resume
from seqlab.training.base import NullCallback, StepReport
from seqlab.training.journal import read_journal
from tests.runs.source_runs import SMALL, hurried, write_table
from tests.runs.toy_runs import without_times

pytestmark = pytest.mark.slow
QUESTIONS = ["red one blue 7", "two green", "unknown words"]


def damages(content: bytes, count: int, chance: random.Random) -> Iterator[bytes]:
    """Three flips for every cut."""
    for number in range(count):
        place = chance.randrange(len(content))
        flipped = bytes([content[place] ^ 1 << chance.randrange(8)])
        yield content[:place] if number % 4 == 3 else content[:place] + flipped + content[place + 1 :]


def read_arrays(data: Path, said: list[str]) -> dict[str, list[Any]]:
    """What a training of this file would read, by split and column."""
    training = {"steps": 1, "threads": 1, "batch_size": 2}
    model = {"kind": "recurrent", "cell": "rnn", "hidden_size": 2, "embedding_size": 2}
    recipe = check({"data": {"train": str(data)}, "training": training, "model": model}, where="")
    stores = {name: split.store for name, split in prepare(recipe, on_stage=said.append).splits.items()}
    return {
        f"{name}.{column.name}": [store[column.name][row].tolist() for row in range(len(store))]
        for name, store in stores.items()
        for column in store.columns
    }


@pytest.mark.parametrize("count", [6, pytest.param(60, marks=pytest.mark.long)])
def test_a_damaged_archive_or_cache_gives_the_same_arrays_or_an_error(
    count: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The cache is made again from the data; an archive cannot be."""
    monkeypatch.setenv("SEQLAB_CACHE", str(tmp_path / "cache"))
    archive = tmp_path / "table.csv.gz"
    archive.write_bytes(gzip.compress(write_table(tmp_path).read_bytes()))
    expected, chance = read_arrays(archive, []), random.Random(count)
    stored = [
        path for path in sorted((tmp_path / "cache").rglob("*")) if path.is_file() and path.stat().st_size
    ]
    assert len(stored) >= 10
    for path in [archive, *chance.sample(stored, min(len(stored), count))]:
        content, said = path.read_bytes(), list[str]()
        for damaged in damages(content, max(2, count // 6), chance):
            path.write_bytes(damaged)
            problem, arrays = None, expected
            try:
                arrays = read_arrays(archive, said)
            except SeqlabError as error:
                problem = error
            assert arrays == expected, path
            assert problem is None or (path == archive and archive.name in str(problem)), problem
        path.write_bytes(content)


def what_it_says(folder: Path) -> str:
    """Its answers, the scores that reports and comparisons show, and its settings."""
    run = Run.load(folder)
    return repr((run.predict(QUESTIONS), run.results.raw, run.recipe))


@pytest.mark.parametrize("count", [4, pytest.param(60, marks=pytest.mark.long)])
def test_a_damaged_run_gives_the_same_answers_or_an_error(
    count: int, tmp_path: Path, cache_folder: Path
) -> None:
    with hurried():
        settings = [*SMALL, "model.hidden_size=8"]
        folder = seqlab.train(
            write_table(tmp_path), *settings, model="gru", steps=8, out=tmp_path / "run"
        ).folder
    expected, chance = what_it_says(folder), random.Random(count)
    for path in sorted(path for path in folder.rglob("*") if path.is_file() and path.stat().st_size):
        content = path.read_bytes()
        for damaged in damages(content, count, chance):
            path.write_bytes(damaged)
            problem, answers = None, expected
            try:
                answers = what_it_says(folder)
            except SeqlabError as error:
                problem = error
            assert answers == expected, path
            assert problem is None or (str(folder) in str(problem) and problem.cure), problem
        path.write_bytes(content)


class Stop(NullCallback):
    """Ends a training as Ctrl-C does."""

    def on_step(self, report: StepReport) -> None:
        if report.step == 6:
            raise KeyboardInterrupt


def train_small(folder: Path, **options: Any) -> Path:
    """A run with a checkpoint after steps 4 and 8, and a journal with losses that the report plots."""
    settings = [*SMALL, "model.hidden_size=8", "data.seed=1"]
    with hurried():
        seqlab.train(write_table(folder.parent), *settings, model="gru", steps=8, out=folder, **options)
    return folder


def resumed(folder: Path) -> str:
    """What a resumed run says at its end: its scores, warnings and advice, its weights, and its journal."""
    with hurried():
        raw = resume(folder, on_stage=ignore).results.raw
    events = read_journal(folder / "journal.jsonl")
    told = [without_times(event) for event in events if event["event"] not in ("resumed", "interrupted")]
    return json.dumps([raw["splits"], raw["warnings"], without_times(raw["training"]), told], sort_keys=True)


def compared(folder: Path) -> str:
    """What is evaluated and compared with another run, and the curves on both pages."""
    run, other = Run.load(folder), folder.parent / "other"
    comparison = compare_runs([folder, other])
    page = write_comparison(comparison, folder.parent / "pages", command="").read_text(encoding="utf-8")
    shutil.rmtree(folder.parent / "pages")
    pages = re.sub(r"\d{4}-\d\d-\d\d \d\d:\d\d(:\d\d)?", "", page + run_report(run))
    return repr((run.evaluate().scores, comparison.as_json(), pages))


def check_damages(folder: Path, count: int, share: float, answer: Callable[[Path], str]) -> int:
    """Damage the files of a copy of a run, one at a time: its answer is that of the intact run, or an error."""
    copy, chance = folder.parent / "copy", random.Random(count)
    shutil.copytree(folder, copy)
    expected = answer(copy)
    files = [
        path
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not path.is_symlink() and path.stat().st_size
    ]
    num_damages = 0
    for path in files:
        for damaged in damages(path.read_bytes(), count, chance):
            if chance.random() >= share:
                continue
            num_damages += 1
            shutil.rmtree(copy)
            shutil.copytree(folder, copy, symlinks=True)
            (copy / path.relative_to(folder)).write_bytes(damaged)
            problem, given = None, expected
            try:
                given = answer(copy)
            except SeqlabError as error:
                problem = error
            assert given == expected, path
            assert problem is None or (str(copy) in str(problem) and problem.cure), problem
    return num_damages


@pytest.mark.parametrize(("count", "share"), [(2, 0.4), pytest.param(16, 1.0, marks=pytest.mark.long)])
def test_a_damaged_interrupted_run_ends_as_if_it_were_intact_or_with_an_error(
    count: int, share: float, tmp_path: Path, cache_folder: Path
) -> None:
    folder = tmp_path / "run"
    with pytest.raises((KeyboardInterrupt, SeqlabError)):
        train_small(folder, callbacks=[Stop()])
    assert check_damages(folder, count, share, resumed) > 3


@pytest.mark.parametrize(("count", "share"), [(2, 0.4), pytest.param(16, 1.0, marks=pytest.mark.long)])
def test_a_damaged_run_is_compared_and_evaluated_as_if_it_were_intact_or_with_an_error(
    count: int, share: float, tmp_path: Path, cache_folder: Path
) -> None:
    train_small(tmp_path / "other", seed=2)
    assert check_damages(train_small(tmp_path / "run"), count, share, compared) > 3
