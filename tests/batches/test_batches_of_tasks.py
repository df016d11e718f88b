"""The batches that the two tasks make from a user's file: windows over a text, and padded reviews with
labels.
"""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import pytest
import torch

from seqlab.batches.batch import Batch
from seqlab.batches.loader import Cursor
from seqlab.recipes.read import check
from seqlab.sources.open_source import open_source
from tests.tasks.encoded_task import EncodedTask, encode_task

TEXT = "".join(f"line {number}: {'abcdefg'[: number % 7]}\n" for number in range(60))


def encoded(path: Path, **sections: Any) -> EncodedTask:
    recipe = check(sections, where="test")
    return encode_task(recipe, {"train": open_source(path, recipe.data)})


def language_model(tmp_path: Path, model: str) -> EncodedTask:
    (tmp_path / "text.txt").write_text(TEXT, encoding="utf-8")
    return encoded(
        tmp_path / "text.txt",
        task="language_model",
        tokens={"kind": "characters"},
        model={"kind": model},
        language_model={"window": 20},
        training={"batch_size": 4, "seed": 3},
    )


def text_of(task: EncodedTask, ids: torch.Tensor) -> str:
    text: str = task.codec.tokenizer.decode(ids.tolist())
    return text


@pytest.mark.spec(35)
def test_random_windows_of_a_text_have_the_same_text_one_step_later_as_targets(tmp_path: Path) -> None:
    task = language_model(tmp_path, "transformer")
    loader = task.objective().loader(Cursor())
    starts: set[int] = set()
    for _ in range(30):
        batch = loader.take()
        assert not batch.continues
        for row in range(4):
            start = int(batch.rows[row])
            assert text_of(task, batch.inputs[row]) == TEXT[start : start + 20]
            assert text_of(task, batch["next_tokens"][row]) == TEXT[start + 1 : start + 21]
            starts.add(start)
    assert len(starts) > 90
    assert len({start % 20 for start in starts}) == 20  # anywhere, not only at multiples of the window


def test_lanes_of_a_text_go_on_from_batch_to_batch(tmp_path: Path) -> None:
    task = language_model(tmp_path, "recurrent")
    loader = task.objective().loader(Cursor())
    lanes = [""] * 4
    last: Batch | None = None
    while loader.cursor.epoch == 0:
        batch = loader.take()
        assert batch.continues == (last is not None)
        if last is not None:
            assert torch.equal(batch.inputs[:, 0], last["next_tokens"][:, -1])
        lanes = [lane + text_of(task, row) for lane, row in zip(lanes, batch.inputs, strict=True)]
        last = batch
    assert "".join(lanes) in TEXT
    assert len("".join(lanes)) > 0.8 * len(TEXT)


def reviews(tmp_path: Path) -> Path:
    path = tmp_path / "reviews.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["text", "label"])
        for number in range(30):
            writer.writerow(
                [
                    " ".join(["Good" if number % 2 else "BAD"] * (10 * number + 1)),
                    "pos" if number % 2 else "neg",
                ]
            )
    return path


def classification(tmp_path: Path, **training: Any) -> EncodedTask:
    return encoded(
        reviews(tmp_path),
        task="classification",
        data={"text": "text", "label": "label", "max_length": 200},
        tokens={"kind": "words", "lowercase": True},
        training=training,
    )


@pytest.mark.spec(26)
def test_reviews_are_lower_cased_cut_and_padded_to_two_hundred_tokens(tmp_path: Path) -> None:
    task = classification(tmp_path, batch_size=8, pad_to=200, seed=1)
    vocabulary = task.codec.inputs.tokenizer.vocabulary
    good, bad, pad_id = vocabulary.id("good"), vocabulary.id("bad"), vocabulary.pad_id
    assert "Good" not in vocabulary.ids
    loader = task.objective().loader(Cursor())
    seen = []
    while loader.cursor.epoch == 0:
        batch = loader.take()
        assert batch.inputs.dtype == batch["label"].dtype == torch.int64
        assert batch.inputs.shape == (len(batch.rows), 200)
        assert batch["label"].shape == (len(batch.rows),)
        for row, tokens, target in zip(
            batch.rows.tolist(), batch.inputs.tolist(), batch["label"].tolist(), strict=True
        ):
            length = min(200, 10 * row + 1)
            assert tokens == [good if row % 2 else bad] * length + [pad_id] * (200 - length)
            assert task.codec.labels.decode(target) == ("pos" if row % 2 else "neg")
            seen.append(row)
    assert sorted(seen) == list(range(30))


@pytest.mark.spec(27)
@pytest.mark.parametrize("batch_size", [1, 128])
def test_reviews_of_similar_length_share_a_batch(tmp_path: Path, batch_size: int) -> None:
    task = classification(tmp_path, batch_size=batch_size, seed=1)
    batch = task.objective().loader(Cursor()).take()
    assert len(batch.rows) == min(batch_size, 30)
    assert batch.inputs.shape[1] == int(
        batch.lengths.max()
    )  # padded to the longest of the batch and no further
