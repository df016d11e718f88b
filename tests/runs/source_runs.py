"""Small finished runs from which others start: language models of both kinds, a masked one, and data for
them.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import seqlab
from seqlab.runs.run import Run
from seqlab.tasks.language_model import objective as language_model
from seqlab.training import forecast

COLOURS, NUMBERS = ["red", "blue", "green", "pink"], ["one", "two", "three", "four"]
SMALL = ("training.threads=1", "training.batch_size=8", "training.evaluate_every=4")
NETWORKS = {
    "transformer": (
        "model.layers=3",
        "model.hidden_size=12",
        "model.heads=2",
        "model.positions=learned",
        "model.max_positions=40",
    ),
    "lstm": ("model.layers=3", "model.hidden_size=10", "model.embedding_size=10"),
    "cnn": ("model.layers=2", "model.hidden_size=10"),
}


@contextmanager
def hurried() -> Iterator[None]:
    """Shorten what is not in question here."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(language_model, "SAMPLE_TOKENS", 5)
        patch.setattr(forecast, "MOST", forecast.FEWEST)
        yield


def sentence(rng: random.Random, *, colours: float) -> str:
    return " ".join(
        rng.choice(COLOURS if rng.random() < colours else NUMBERS) for _ in range(rng.randint(3, 9))
    )


def write_text(folder: Path, *, lines: int = 200) -> Path:
    rng = random.Random(3)
    path = folder / "text.txt"
    path.write_text(
        "".join(sentence(rng, colours=rng.choice([0.1, 0.9])) + "\n" for _ in range(lines)), encoding="utf-8"
    )
    return path


def write_table(folder: Path, *, rows: int = 60) -> Path:
    rng = random.Random(5)
    path = folder / "notes.csv"
    lines = [
        f"{sentence(rng, colours=0.9 if row % 2 else 0.1)} {row},{'colour' if row % 2 else 'number'}"
        for row in range(rows)
    ]
    path.write_text("text,label\n" + "\n".join(lines) + "\n", encoding="utf-8")
    return path


def write_tags(folder: Path, *, sentences: int = 40) -> Path:
    """Every word with what it is."""
    rng = random.Random(7)
    path = folder / "tags.tsv"
    lines = [
        "\n".join(f"{word}\t{'C' if word in COLOURS else 'N'}" for word in sentence(rng, colours=0.5).split())
        for _ in range(sentences)
    ]
    path.write_text("\n\n".join(lines) + "\n", encoding="utf-8")
    return path


def pretrain(
    folder: Path, *, model: str = "transformer", task: str = "language_model", steps: int = 8, **more: Any
) -> Run:
    """A run of a few updates on a small text of words."""
    settings = [*SMALL, *NETWORKS[model], "tokens.kind=words", f"{task}.window=12"]
    with hurried():
        return seqlab.train(
            write_text(folder),
            *settings,
            model=model,
            task=task,
            steps=steps,
            out=folder / f"{task}-{model}",
            **more,
        )


def fine_tune(
    folder: Path,
    source: Run | Path,
    *settings: str,
    name: str = "tuned",
    steps: int = 8,
    data: Path | None = None,
    **more: Any,
) -> Run:
    start = source.folder if isinstance(source, Run) else source
    with hurried():
        return seqlab.train(
            data or write_table(folder),
            *SMALL,
            *settings,
            start=start,
            steps=steps,
            out=folder / name,
            **more,
        )
