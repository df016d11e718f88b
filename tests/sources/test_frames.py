"""Sequences of numbers with a tag for each step, out of JSON and out of tables."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from seqlab.core.errors import DataError
from seqlab.recipes.read import check
from seqlab.runs.data import RunData, open_data
from seqlab.tasks.tagging.rows import TaggedRows

ROWS = [{"frames": [[0.5, 1], [0.7, 2]], "tags": ["low", "high"]}, {"frames": [[3, 4.5]], "tags": ["low"]}]
TABLE = "id,step,x,y,phase\na,0,0.5,1,low\na,1,0.7,2,high\nb,0,3,4.5,low\nb,1,1,1,low\n"


def opened(path: Path, content: str, **settings: Any) -> RunData:
    path.write_text(content)
    return open_data(
        check({"data": {"train": str(path), "valid": str(path), "test": str(path), **settings}}, where="test")
    )


@pytest.mark.spec(12)
def test_json_with_vectors_and_tags_is_tagging(tmp_path: Path) -> None:
    found = opened(tmp_path / "x.jsonl", "\n".join(map(json.dumps, ROWS)))
    assert (
        found.recipe.task,
        found.recipe.data.label,
        found.recipe.data.features,
        found.recipe.data.text,
    ) == ("tagging", "tags", ("frames",), "")
    assert [row.values for row in found.parts["train"].rows()] == [
        {"steps": row["frames"], "tags": row["tags"]} for row in ROWS
    ]
    assert "a tag for every step: tagging; set task=NAME to change the task" in found.reasons


@pytest.mark.spec(12)
def test_a_table_with_a_tag_in_every_row_is_tagging(tmp_path: Path) -> None:
    found = opened(tmp_path / "x.csv", TABLE)
    assert (found.recipe.task, found.recipe.data.label, found.recipe.data.sequence) == (
        "tagging",
        "phase",
        "id",
    )
    rows = list(found.parts["train"].rows())
    assert [(row.values["steps"], row.values["phase"]) for row in rows] == [
        ([[0.5, 1.0], [0.7, 2.0]], ["low", "high"]),
        ([[3.0, 4.5], [1.0, 1.0]], ["low", "low"]),
    ]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (
            [{"frames": [[1, 2], [3]], "tags": ["a", "b"]}],
            "x.jsonl, line 3: column 'frames' does not contain a list of steps",
        ),
        (
            [{"frames": [[1, 2]], "tags": ["a", "b"]}],
            "x.jsonl, line 3: 1 steps, but 2 tags in column 'tags'.",
        ),
        ([{"frames": [], "tags": []}], "x.jsonl, line 3: column 'frames' does not contain a list of steps"),
    ],
)
def test_rows_that_cannot_be_tagged_are_told_with_their_line(
    tmp_path: Path, content: list[dict[str, Any]], words: str
) -> None:
    found = opened(tmp_path / "x.jsonl", "\n".join(map(json.dumps, [*ROWS, *content])))
    with pytest.raises(DataError) as caught:
        list(TaggedRows.of(found.recipe, found.parts["train"]).rows())
    assert words in str(caught.value)


def test_scattered_sequences_and_gaps_in_a_table_are_refused(tmp_path: Path) -> None:
    settings = {"sequence": "id", "label": "phase", "features": ["x", "y"]}
    for line, words in (
        ("a,2,1,1,low", "line 6: sequence 'a' continues here"),
        ("c,0,,1,low", "line 6, column 'x': the cell is empty"),
    ):
        path = tmp_path / "x.csv"
        path.write_text(TABLE + line + "\n")
        recipe = check(
            {
                "task": "tagging",
                "data": {"train": str(path), "valid": str(path), "test": str(path), **settings},
            },
            where="test",
        )
        with pytest.raises(DataError) as caught:
            list(open_data(recipe).parts["train"].rows())
        assert words in str(caught.value)
