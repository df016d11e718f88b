"""The shipped recipe `imdb-lecture`: the set-up that it promises, and what its padding mask changes."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
import torch

from seqlab.recipes.read import check, override, read_raw
from seqlab.runs.data import open_data
from seqlab.training.schedule import learning_rate
from tests.tasks.encoded_task import EncodedTask, encode_task

WORDS = [f"word{number}" for number in range(40)]


def lecture(folder: Path, *words: str, rows: int = 60) -> EncodedTask:
    draw = random.Random(7)
    lines = [
        f'{{"text": "{" ".join(draw.choices(WORDS, k=draw.randrange(3, 230)))}", "label": {row % 2}}}'
        for row in range(rows)
    ]
    path = folder / "train.jsonl"
    path.write_text("\n".join(lines))
    opened = open_data(
        check(override(read_raw("imdb-lecture"), [f"data.train={path}", *words]), where="imdb-lecture")
    )
    task = encode_task(opened.recipe, opened.parts)
    torch.manual_seed(2)
    return task


@pytest.mark.spec(26, 99, 100)
def test_it_is_the_set_up_of_the_lecture(tmp_path: Path) -> None:
    recipe = lecture(tmp_path).recipe
    training, model = recipe.training, recipe.model
    assert (training.epochs, training.batch_size, training.learning_rate, model.dropout) == (
        10,
        128,
        1e-3,
        0.1,
    )
    assert (recipe.data.max_length, recipe.tokens.kind, recipe.tokens.size, recipe.tokens.lowercase) == (
        200,
        "words",
        50_000,
        True,
    )
    per_epoch = -(-22_500 // 128)
    assert (training.warmup_steps, training.decay_steps, training.evaluate_every) == (
        3 * per_epoch,
        50 * per_epoch,
        per_epoch,
    )
    half = 0.5 * (1 + torch.cos(torch.tensor(torch.pi * 264 / 8800, dtype=torch.float64))).item() * 264 / 528
    assert learning_rate(264, training, total_steps=1760) == pytest.approx(1e-3 * half, rel=1e-12)


def test_texts_are_cut_to_200_tokens_and_the_vocabulary_is_that_of_the_training_part(tmp_path: Path) -> None:
    task = lecture(tmp_path)
    assert task.splits["train"].steps.lengths.max() == 200
    assert len(task.codec.inputs.tokenizer.vocabulary) == 42  # the words and <unk>, <pad>


@pytest.mark.spec(160)
def test_without_the_mask_the_amount_of_padding_changes_the_answer_and_with_it_never(tmp_path: Path) -> None:
    text = " ".join(WORDS[:9])
    answers = {}
    for mask in ("true", "false"):
        for length in (0, 200):
            task = lecture(tmp_path, f"model.padding_mask={mask}", f"training.pad_to={length}")
            model = task.build_model().double().eval()
            answers[mask, length] = task.predictor(model).predict([text], top=2)[0].probability
    assert answers["true", 0] == pytest.approx(answers["true", 200], abs=1e-12)
    assert abs(answers["false", 0] - answers["false", 200]) > 1e-4
