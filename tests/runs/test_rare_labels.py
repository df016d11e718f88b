"""Labels with few rows: none is lost when parts are held out, or when few rows are drawn to learn from."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from seqlab.core.errors import DataError
from seqlab.recipes.read import check
from seqlab.runs.data import RunData, open_data
from seqlab.tasks.spec import find_spec
from tests.tasks.encoded_task import EncodedTask, encode_task

SEEDS = range(4)


def open_and_encode(path: Path, **data: Any) -> tuple[RunData, EncodedTask]:
    """The parts of a file, and the task with its codec fitted to them and every part encoded."""
    opened = open_data(
        check(
            {"data": {"train": str(path), **data}, "model": {"kind": "recurrent", "hidden_size": 7}},
            where="test",
        )
    )
    recipe, _ = find_spec(opened.recipe.task).fill_defaults(opened.recipe, opened.parts["train"])
    return opened, encode_task(recipe, opened.parts)


@pytest.fixture
def tagged(tmp_path: Path) -> Path:
    """Sixty sentences, and six tags that one sentence each has."""
    common = [f"dog{number}\tN\nbarks\tV\n" for number in range(54)]
    rare = [f"rare{number}\tR{number}\nbarks\tV\n" for number in range(6)]
    (tmp_path / "words.tsv").write_text("\n".join([*common[::2], *rare, *common[1::2]]))
    return tmp_path / "words.tsv"


@pytest.fixture
def classes(tmp_path: Path) -> Path:
    """Ninety rows of thirty classes."""
    (tmp_path / "many.csv").write_text(
        "text,label\n"
        + "".join(f"the thing {place % 30} and {place},class{place % 30}\n" for place in range(90))
    )
    return tmp_path / "many.csv"


@pytest.mark.parametrize("seed", SEEDS)
def test_a_tag_of_one_sentence_stays_in_train(tagged: Path, seed: int) -> None:
    opened, task = open_and_encode(tagged, seed=seed)
    seen = {tag for row in opened.parts["train"].rows() for tag in row.values["tag"]}
    assert seen == set(task.codec.labels.names) == {"N", "V", *(f"R{number}" for number in range(6))}
    held = {
        tag for name in ("valid", "test") for row in opened.parts[name].rows() for tag in row.values["tag"]
    }
    assert held == {"N", "V"}


@pytest.mark.parametrize("task", ["classification", "multi_label", "tagging"])
def test_more_labels_than_the_limit_are_refused_by_every_task_that_has_labels(
    task: str, tagged: Path, classes: Path, tmp_path: Path
) -> None:
    """20,000 of them filled the memory."""
    labels, path = 30, classes
    if task == "multi_label":
        path = tmp_path / "topics.jsonl"
        topics = [f"topic {number}" for number in range(30)]
        rows = [{"text": f"the film {n}", "labels": [topics[n % 30], topics[n * 7 % 30]]} for n in range(90)]
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    if task == "tagging":
        labels, path = 8, tagged
    with pytest.raises(DataError, match=rf"{path.name}.* {labels} .*data\.max_labels={labels - 1}"):
        open_and_encode(path, max_labels=labels - 1)
    assert open_and_encode(path, max_labels=labels)[0].recipe.task == task


def test_classes_that_no_drawn_row_has_are_known_and_told(classes: Path) -> None:
    opened, task = open_and_encode(classes, train_rows=10)
    assert len(task.splits["train"]) == 10
    assert sorted(task.codec.labels.names) == sorted({f"class{place}" for place in range(30)})
    drawn = {row.values["label"] for row in opened.parts["train"].rows()}
    assert any(
        note.startswith(f"train: {30 - len(drawn)} classes have no examples in the sampled rows")
        for note in task.notes
    )


def test_tags_that_no_drawn_sentence_has_are_known(tagged: Path) -> None:
    _, task = open_and_encode(tagged, train_rows=5)
    assert len(task.splits["train"]) == 5
    assert len(task.codec.labels.names) == 8


def test_numbers_are_scaled_by_the_drawn_rows_alone(tmp_path: Path) -> None:
    (tmp_path / "prices.csv").write_text(
        "text,price\n" + "".join(f"the thing number {place},{place * place / 7:.3f}\n" for place in range(90))
    )
    opened, task = open_and_encode(tmp_path / "prices.csv", train_rows=10)
    values = [float(row.values["price"]) for row in opened.parts["train"].rows()]
    assert task.codec.labels.mean == pytest.approx(sum(values) / len(values))
