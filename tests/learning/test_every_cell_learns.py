"""Every cell learns through the same command as any other model: a task that needs the order of its input,
and a text with a grammar.
"""

from __future__ import annotations

import math
import random
from pathlib import Path

import pytest
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.naive_bayes import MultinomialNB

import seqlab
from seqlab.cells.settings import CELL_KINDS

OPTIONS = {"projected_lstm": ["model.cell.proj_size=12"]}
WORDS = ["sun ", "moon ", "star ", "sky "]


def write_orders(path: Path) -> Path:
    """Letters with one a and one b among them; the class says which came first.

    How often each letter occurs says nothing.
    """
    chance = random.Random(7)
    lines = ["text,label"]
    for _ in range(900):
        letters = [chance.choice("cdef") for _ in range(chance.randint(3, 8))]
        first, second = chance.sample("ab", 2)
        places = sorted(chance.sample(range(len(letters) + 1), 2))
        letters.insert(places[1], second)
        letters.insert(places[0], first)
        lines.append(f"{''.join(letters)},{first}")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def accuracy_of_character_counts(path: Path) -> float:
    """Naive Bayes that knows how often each character occurs: trained on the first 720 rows, tested on the rest."""
    rows = [line.rsplit(",", 1) for line in path.read_text(encoding="utf-8").splitlines()[1:]]
    texts, labels = zip(*rows, strict=True)
    counts = CountVectorizer(analyzer="char").fit_transform(texts)
    return float(MultinomialNB().fit(counts[:720], labels[:720]).score(counts[720:], labels[720:]))


def write_words(path: Path) -> Path:
    chance = random.Random(3)
    path.write_text("".join(chance.choices(WORDS, k=3000)), encoding="utf-8")
    return path


@pytest.mark.long
@pytest.mark.parametrize("cell", CELL_KINDS)
def test_a_classifier_learns_which_letter_came_first(cell: str, tmp_path: Path) -> None:
    """Counts of single characters get one half; nine tenths are asked for."""
    path = write_orders(tmp_path / "orders.csv")
    run = seqlab.train(
        path,
        "model.hidden_size=24",
        "model.embedding_size=8",
        "training.batch_size=32",
        "training.threads=1",
        "training.evaluate_every=100",
        *OPTIONS.get(cell, []),
        model=cell,
        steps=500,
        seed=1,
        out=tmp_path / "run",
        text="text",
        label="label",
    )
    assert run.results["accuracy"].value > 0.9
    assert accuracy_of_character_counts(path) < 0.65  # the baseline of a run sees n-grams, and so the order


@pytest.mark.long
@pytest.mark.parametrize("cell", CELL_KINDS)
def test_a_language_model_comes_close_to_the_entropy_of_its_text(cell: str, tmp_path: Path) -> None:
    """Four equally likely words of 18 characters together: 4 log 4 nats per 18 of them.

    Knowing only how often letters occur costs over 2.
    """
    run = seqlab.train(
        write_words(tmp_path / "words.txt"),
        "model.hidden_size=32",
        "model.embedding_size=16",
        "model.dropout=0",
        "training.batch_size=16",
        "language_model.window=32",
        "training.threads=1",
        "training.evaluate_every=150",
        *OPTIONS.get(cell, []),
        model=cell,
        steps=300,
        seed=1,
        out=tmp_path / "run",
    )
    entropy = 4 * math.log(4) / sum(map(len, WORDS))
    assert entropy * 0.9 < run.results["nats_per_token"].value < entropy * 1.25
