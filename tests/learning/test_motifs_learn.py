"""Biological sequences: the order of letters makes the class, so that counting them does not help."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

import seqlab


def sequence(rng: random.Random, *, is_promoter: bool) -> str:
    """Two boxes seventeen letters apart, as bacterial promoters have them; otherwise the same letters of each
    box in another order.
    """
    boxes = [box if is_promoter else "".join(rng.sample(box, k=6)) for box in ("TTGACA", "TATAAT")]
    between, around = ("".join(rng.choices("ACGT", k=count)) for count in (17, 20))
    start = rng.randrange(20)
    return around[:start] + boxes[0] + between + boxes[1] + around[start:]


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.spec(14)
def test_promoters_are_told_from_the_same_letters_in_another_order(tmp_path: Path) -> None:
    rng = random.Random(4)
    for name, is_promoter in (("promoter", True), ("other", False)):
        lines = [f">{name}{i}\n{sequence(rng, is_promoter=is_promoter)}\n" for i in range(400)]
        (tmp_path / f"{name}.fasta").write_text("".join(lines))
    settings = ("training.threads=1", "model.layers=3", "model.hidden_size=48", "training.learning_rate=0.01")
    run = seqlab.train(tmp_path, *settings, model="cnn", steps=300, out=tmp_path / "r")
    assert run.recipe.tokens.kind == "characters"
    accuracy = run.results["accuracy"]
    assert accuracy.value > 0.9
    assert accuracy.low > accuracy.baseline  # naive Bayes sees the same letters in both
    assert run.predict([sequence(rng, is_promoter=True)])[0].answer == "promoter"
