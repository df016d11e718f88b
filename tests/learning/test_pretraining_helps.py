"""Text without labels helps a classifier that has only eight labels."""

from __future__ import annotations

import csv
import random
from pathlib import Path

import pytest
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.naive_bayes import MultinomialNB

import seqlab
from seqlab.runs.run import Run

TOPICS = {topic: [f"{topic}{number}" for number in range(40)] for topic in ("sea", "wood")}
COMMON = ["the", "a", "old", "small", "near"]
NETWORK = ("model.layers=2", "model.hidden_size=32")
FEW_LABELS, STEPS = 8, 60
MARGIN = 0.2
"""By so much a classifier that has read the text is better than one that has not: eight standard errors of
400 answers.
"""


def sentence(rng: random.Random, topic: str) -> str:
    """Half of the words tell the topic, each word rarely: eight sentences show less than half of those that
    tell it.
    """
    return " ".join(
        rng.choice(TOPICS[topic]) if rng.random() < 0.5 else rng.choice(COMMON)
        for _ in range(rng.randint(6, 10))
    )


def write_data(folder: Path) -> None:
    """A text that stays with a topic for eight lines, and tables of single lines with their topic."""
    rng = random.Random(3)
    paragraphs = [
        "".join(sentence(rng, topic) + "\n" for _ in range(8)) for topic in rng.choices(list(TOPICS), k=500)
    ]
    (folder / "text.txt").write_text("".join(paragraphs), encoding="utf-8")
    for name, rows in (("train", FEW_LABELS), ("valid", 200), ("test", 400)):
        topics = [list(TOPICS)[row % 2] for row in range(rows)]
        (folder / f"{name}.csv").write_text(
            "text,label\n" + "".join(f"{sentence(rng, topic)},{topic}\n" for topic in topics),
            encoding="utf-8",
        )


def accuracy_of_word_counts(folder: Path) -> float:
    """Naive Bayes on words, from the same eight labels. (Character n-grams see how the words are spelled.)"""
    train, test = (
        list(
            zip(
                *csv.reader((folder / f"{name}.csv").read_text(encoding="utf-8").splitlines()[1:]),
                strict=True,
            )
        )
        for name in ("train", "test")
    )
    counts = CountVectorizer().fit(train[0])
    bayes = MultinomialNB().fit(counts.transform(train[0]), train[1])
    return float(bayes.score(counts.transform(test[0]), test[1]))


def classify(folder: Path, name: str, *settings: str, **more: str | Path) -> Run:
    """The same budget and the same choice of the best step for all."""
    words = (
        "training.threads=1",
        "training.batch_size=32",
        f"training.steps={STEPS}",
        "training.evaluate_every=20",
        *settings,
    )
    return seqlab.train(
        folder / "train.csv",
        *words,
        valid=folder / "valid.csv",
        test=folder / "test.csv",
        out=folder / name,
        **more,
    )


def pretrain(folder: Path, model: str, *, steps: int) -> Run:
    settings = (
        "training.threads=1",
        "training.batch_size=32",
        "tokens.kind=words",
        "language_model.window=24",
        "training.learning_rate=0.005",
    )
    return seqlab.train(
        folder / "text.txt",
        *settings,
        *NETWORK,
        "training.evaluate_every=200",
        model=model,
        steps=steps,
        out=folder / "pretrained",
    )


@pytest.mark.long
@pytest.mark.spec(112, 171)
@pytest.mark.parametrize(("model", "steps"), [("gru", 1000), ("transformer", 800)])
def test_a_language_model_makes_a_better_classifier_than_no_model(
    model: str, steps: int, tmp_path: Path
) -> None:
    write_data(tmp_path)
    source = pretrain(tmp_path, model, steps=steps)
    scratch = max(
        classify(
            tmp_path,
            f"scratch-{pooling}",
            *NETWORK,
            "tokens.kind=words",
            f"model.pooling={pooling}",
            "training.learning_rate=0.005",
            model=model,
        )
        .results["accuracy"]
        .value
        for pooling in ("last", "max")
    )
    tuned = classify(tmp_path, "tuned", start=source.folder).results["accuracy"]
    assert tuned.value > scratch + MARGIN
    frozen = classify(
        tmp_path, "frozen", "start.freeze=backbone", "training.learning_rate=0.005", start=source.folder
    ).results["accuracy"]
    assert frozen.value > scratch + MARGIN  # what was learned before is enough for a new head
    assert frozen.value > accuracy_of_word_counts(tmp_path) + 0.1
