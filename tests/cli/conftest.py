"""Small runs that the tests of the command line share: one classifier, one language model, one reader of
numbers.
"""

from __future__ import annotations

import csv
import math
import random
from pathlib import Path

import pytest

import seqlab
from seqlab.runs.run import Run

SMALL = ("training.threads=1", "training.batch_size=16")


@pytest.fixture(scope="session")
def reviews_csv(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """120 short reviews whose class follows from one word."""
    path = tmp_path_factory.mktemp("reviews") / "my reviews.csv"
    rng = random.Random(3)
    words = {"good": ["fine", "lovely", "great"], "bad": ["dull", "awful", "boring"]}
    with path.open("w", newline="", encoding="utf-8") as file:
        table = csv.writer(file)
        table.writerow(["review", "opinion"])
        for number in range(120):
            label = rng.choice(list(words))
            table.writerow(
                [
                    (
                        f"film number {number} was {rng.choice(words[label])} to watch, said the visitors of"
                        " the house"
                    ),
                    label,
                ]
            )
    return path


@pytest.fixture(scope="session")
def story_txt(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """600 sentences of a small grammar."""
    rng = random.Random(5)
    path = tmp_path_factory.mktemp("story") / "story.txt"
    path.write_text("".join(sentence(rng) + "\n" for _ in range(600)), encoding="utf-8")
    return path


def sentence(rng: random.Random) -> str:
    subject, verb, thing = (
        rng.choice(["cat", "dog", "bird"]),
        rng.choice(["sees", "likes", "hears"]),
        rng.choice(["tree", "house", "river"]),
    )
    return (
        f"the {rng.choice(['small', 'old'])} {subject} {verb} the {rng.choice(['green', 'quiet'])} {thing} ."
    )


@pytest.fixture(scope="session")
def waves_csv(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Sines and squares of different length, speed and height: one row per step, a column that names the
    series.
    """
    path = tmp_path_factory.mktemp("waves") / "waves.csv"
    rng = random.Random(7)
    with path.open("w", newline="", encoding="utf-8") as file:
        table = csv.writer(file)
        table.writerow(["id", "t", "height", "slope", "shape"])
        for number in range(160):
            shape, speed, height = (
                rng.choice(["sine", "square"]),
                rng.uniform(0.5, 0.9),
                rng.uniform(0.8, 1.2),
            )
            before = 0.0
            for t in range(rng.randint(14, 22)):
                wave = math.sin(speed * t)
                value = height * (wave if shape == "sine" else math.copysign(1, wave))
                table.writerow([f"series-{number}", t, f"{value:.4f}", f"{value - before:.4f}", shape])
                before = value
    return path


@pytest.fixture(scope="session")
def reviews_run(reviews_csv: Path, tmp_path_factory: pytest.TempPathFactory) -> Run:
    out = tmp_path_factory.mktemp("runs") / "my reviews"
    return seqlab.train(
        reviews_csv,
        *SMALL,
        "model.hidden_size=16",
        "model.pooling=max",
        "training.learning_rate=0.02",
        model="gru",
        steps=40,
        out=out,
    )


@pytest.fixture(scope="session")
def story_run(story_txt: Path, tmp_path_factory: pytest.TempPathFactory) -> Run:
    out = tmp_path_factory.mktemp("runs") / "story"
    settings = (
        "model.hidden_size=48",
        "language_model.window=32",
        "training.learning_rate=0.02",
        "training.evaluate_every=80",
    )
    return seqlab.train(story_txt, *SMALL, *settings, model="gru", steps=160, out=out)


@pytest.fixture(scope="session")
def waves_run(waves_csv: Path, tmp_path_factory: pytest.TempPathFactory) -> Run:
    out = tmp_path_factory.mktemp("runs") / "waves"
    settings = (
        "model.hidden_size=24",
        "training.learning_rate=0.02",
        "training.evaluate_every=20",
        "data.test_share=0.25",
    )
    return seqlab.train(waves_csv, *SMALL, *settings, model="gru", steps=100, out=out)
