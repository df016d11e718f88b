"""A language whose middle word agrees with both of its neighbours: found from both sides, and from the left
alone by luck only.
"""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Any

import pytest
import torch

from seqlab.batches.loader import Cursor
from seqlab.training.optimizers.parameter_groups import build_optimizer, set_learning_rate
from tests.tasks.encoded_streams import encode_recipe

pytestmark = pytest.mark.long  # short each, long together

SIZE, STEPS = 4, 200


def sentence(left: int, right: int, *, hidden: bool = False) -> str:
    """The middle word agrees with both of its neighbours: one of them leaves four words that fit."""
    return f"a{left} {'[MASK]' if hidden else f'm{left}{right}'} b{right}"


def accuracy_after_training(folder: Path, model: dict[str, Any]) -> float:
    """The share of all gaps between two neighbours that are filled rightly."""
    path = folder / "sentences.csv"
    pairs = list(product(range(SIZE), repeat=2))
    path.write_text("\n".join(["text", *(sentence(*pair) for pair in pairs * 12)]))
    raw = {
        "task": "masked_language_model",
        "data": {"train": str(path), "text": "text", "split": "random"},
        "tokens": {"kind": "words"},
        "model": {"dropout": 0.0, **model},
        "training": {"batch_size": 32},
        "masked_language_model": {"mlm_probability": 0.3},
    }
    task = encode_recipe(raw)
    objective = task.objective()
    torch.manual_seed(1)
    network = task.build_model().train()
    optimizer = build_optimizer(network, task.recipe.training)
    loader = objective.loader(Cursor())
    for _ in range(STEPS):
        loss = objective.loss(network, loader.take(), step=0, carry=())
        network.zero_grad()
        (loss.total / loss.count).backward()
        set_learning_rate(optimizer, 3e-3)
        optimizer.step()
    inputs = [sentence(*pair, hidden=True) for pair in pairs]
    answers = task.predictor(network.eval()).predict(inputs, top=1)
    return sum(
        answer.answer == sentence(*pair).split()[1] for answer, pair in zip(answers, pairs, strict=True)
    ) / len(pairs)


TRANSFORMER = {
    "kind": "transformer",
    "hidden_size": 32,
    "heads": 2,
    "layers": 2,
    "positions": "learned",
    "embedding_scale": True,
}


@pytest.mark.spec(170)
@pytest.mark.parametrize(
    ("model", "sees_both_sides"),
    [
        (TRANSFORMER, True),
        ({**TRANSFORMER, "causal": True}, False),
        ({"kind": "recurrent", "cell": "gru", "hidden_size": 32, "bidirectional": True}, True),
        ({"kind": "recurrent", "cell": "gru", "hidden_size": 32}, False),
        ({"kind": "convolutional", "hidden_size": 32, "layers": 2}, True),
    ],
    ids=["transformer", "causal transformer", "bidirectional gru", "gru", "convolutional"],
)
def test_a_word_that_agrees_with_both_sides_is_found_by_those_who_see_both(
    tmp_path: Path, model: dict[str, Any], sees_both_sides: bool
) -> None:
    found = accuracy_after_training(tmp_path, model)
    assert found >= 0.95 if sees_both_sides else found <= 0.5  # luck alone gets a quarter
