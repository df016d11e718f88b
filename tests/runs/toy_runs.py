"""Small real runs in processes of their own, which can be killed at any moment and gone on with."""

from __future__ import annotations

import hashlib
import json
import multiprocessing
import os
import random
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

from seqlab.runs.folder.layout import RECIPE
from seqlab.training.journal import read_journal

# Children are forked from a server that has imported torch but never computed, so one costs milliseconds and
# none inherits threads.
CONTEXT = multiprocessing.get_context("forkserver")
CONTEXT.set_forkserver_preload(
    [
        "pytest",
        "seqlab.runs.train.start",
        "seqlab.runs.find_recipe",
        "seqlab.tasks.classification.parts",
        "seqlab.models.recurrent",
        "seqlab.models.transformer",
        "torch.optim.adamw",
        "tests.runs.toy_runs",
    ]
)
VARYING = ("time", "seconds", "command", "journal")
"""What differs between two runs of the same thing."""

LANGUAGE_MODEL = [
    "task=language_model",
    "model.kind=recurrent",
    "model.cell=lstm",
    "model.layers=2",
    "model.hidden_size=10",
    "model.dropout=0.2",
    "tokens.kind=characters",
    "language_model.window=12",
    "training.batch_size=5",
    "training.steps=17",
    "training.evaluate_every=5",
    "training.warmup_steps=6",
    "training.ema_decay=0.8",
]
CLASSIFIER = [
    "task=classification",
    "data.text=text",
    "data.label=label",
    "model.kind=transformer",
    "model.positions=none",
    "model.layers=1",
    "model.hidden_size=12",
    "model.heads=2",
    "model.dropout=0.2",
    "tokens.kind=characters",
    "training.batch_size=9",
    "training.steps=17",
    "training.evaluate_every=5",
    "training.label_smoothing=0.1",
]
SETTINGS = {"language_model": LANGUAGE_MODEL, "classifier": CLASSIFIER}


@contextmanager
def folder_in_memory() -> Iterator[Path]:
    """A folder where syncing costs nothing, when there is one: a killed process loses nothing that it has
    written, synced or not.
    """
    memory = Path("/dev/shm")
    folder = Path(tempfile.mkdtemp(prefix="seqlab-", dir=memory if os.access(memory, os.W_OK) else None))
    try:
        yield folder
    finally:
        shutil.rmtree(folder)


def write_data(kind: str, folder: Path) -> Path:
    """A text, or a table of texts with a label that can be learned from their letters."""
    chance = random.Random(3)
    folder.mkdir(parents=True, exist_ok=True)
    if kind == "language_model":
        path = folder / "story.txt"
        words = ["to", "be", "or", "not", "that", "is", "the", "question"]
        path.write_text(
            "".join(" ".join(chance.choices(words, k=7)) + "\n" for _ in range(130)), encoding="utf-8"
        )
        return path
    path = folder / "notes.csv"
    lines = [
        f"{''.join(chance.choice('abcde' if row % 2 else 'cdefg') for _ in range(chance.randint(3, 17)))},{'low' if row % 2 else 'high'}"
        for row in range(140)
    ]
    path.write_text("text,label\n" + "\n".join(lines) + "\n", encoding="utf-8")
    return path


def start(data: Path, folder: Path, settings: list[str]) -> None:
    """Train from the beginning, in this process. Settings are those of SETTINGS, or further ones."""
    from seqlab.runs.find_recipe import find_recipe
    from seqlab.runs.train.prepare import prepare
    from seqlab.runs.train.start import train

    _hurry()
    recipe, _ = find_recipe(str(data), ["training.threads=1", *settings])
    train(prepare(recipe, out=str(folder)))


def go_on(data: Path, folder: Path, settings: list[str]) -> None:
    """What somebody does after a run was killed: resume it, or start it again when it had not begun."""
    from seqlab.runs.train.start import resume

    _hurry()
    if (folder / RECIPE).exists():
        resume(folder)
    else:
        start(data, folder, settings)


def _hurry() -> None:
    """Shorten what is not in question here."""
    from seqlab.tasks.language_model import objective
    from seqlab.training import forecast

    objective.SAMPLE_TOKENS = 12
    forecast.MOST = forecast.FEWEST


def spawn(target: Callable[..., None], *arguments: Any) -> BaseProcess:
    """A process that is under way."""
    process = CONTEXT.Process(target=target, args=arguments)
    process.start()
    return process


def finish(target: Callable[..., None], *arguments: Any, timeout: float = 60) -> int:
    """Run to the end; the exit code (negative: the signal that killed it)."""
    return wait(spawn(target, *arguments), timeout=timeout)


def wait(process: BaseProcess, *, timeout: float = 60) -> int:
    process.join(timeout)
    if process.exitcode is None:
        process.kill()
        process.join()
        raise TimeoutError(f"still running after {timeout} s")
    return process.exitcode


def kill_after(seconds: float, target: Callable[..., None], *arguments: Any) -> int:
    """Run, and SIGKILL after a while; the exit code."""
    process = spawn(target, *arguments)
    deadline = time.monotonic() + seconds
    while process.is_alive() and time.monotonic() < deadline:
        time.sleep(0.001)
    process.kill()
    return wait(process)


def fingerprint(folder: Path) -> dict[str, Any]:
    """Everything that must not depend on how often a run was stopped: weights, optimizer, random numbers,
    counts, journal, scores.
    """
    last = newest_checkpoint(folder)
    state = json.loads((last / "state.json").read_text(encoding="utf-8"))
    results = json.loads((folder / "results.json").read_text(encoding="utf-8"))
    return {
        "model": digest(folder / "model.safetensors"),
        "tensors": digest(last / "tensors.safetensors"),
        "best": digest(last / "best.safetensors"),
        "state": without_times(state),
        "journal": [
            without_times(event)
            for event in read_journal(folder / "journal.jsonl")
            if event["event"] not in ("resumed", "interrupted")
        ],
        "splits": results["splits"],
    }


def without_times(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: without_times(part) for name, part in value.items() if name not in VARYING}
    return value


def newest_checkpoint(folder: Path) -> Path:
    return sorted((folder / "checkpoints").glob("step-*"))[-1]


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def leftovers(folder: Path) -> list[str]:
    """Temporary files and folders that nobody will ever read."""
    return sorted(
        str(path.relative_to(folder))
        for path in folder.rglob("*")
        if path.name.startswith(("tmp-", ".last.")) or path.suffix == ".tmp"
    )
