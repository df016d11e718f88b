"""Lists of words as texts."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from seqlab.core.errors import DataError
from seqlab.recipes.read import check
from seqlab.runs.data import open_data, open_prediction_inputs
from seqlab.sources.open_source import open_source
from seqlab.sources.settings import DataSettings
from tests.sources.guessing import guess


def write(path: Path, rows: list[dict[str, object]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


RECIPES: list[dict[str, object]] = [
    {"id": n, "parts": ["salt", "olive oil", f"thing {n}"], "cuisine": ("thai", "greek")[n % 2]}
    for n in range(40)
]


def test_the_words_of_a_list_are_a_text_if_there_is_a_label(tmp_path: Path) -> None:
    path = write(tmp_path / "recipes.jsonl", RECIPES)
    opened = open_data(check({"data": {"train": str(path)}}, where="test"))
    assert (opened.recipe.task, opened.recipe.data.text, opened.recipe.data.label) == (
        "classification",
        "parts",
        "cuisine",
    )
    texts = [row.values["parts"] for part in opened.parts.values() for row in part.rows()]
    assert sorted(texts) == sorted(f"salt olive oil thing {n}" for n in range(40))
    asked = write(tmp_path / "new.jsonl", [{"parts": ["rice", "lime leaf"]}])
    assert list(open_prediction_inputs(opened.recipe, str(asked))) == ["rice lime leaf"]


def test_words_without_tags_or_a_label_are_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "words.jsonl", [{"id": n, "words": ["it", "is", str(n)]} for n in range(20)])
    with pytest.raises(DataError, match="tag for each"):
        guess(open_source(path, DataSettings()))


def test_a_tagger_reads_words_as_they_are_even_those_with_spaces(tmp_path: Path) -> None:
    rows: list[dict[str, object]] = [
        {"words": ["New York", str(n)], "tags": ["PLACE", "NUM"]} for n in range(40)
    ]
    opened = open_data(check({"data": {"train": str(write(tmp_path / "tagged.jsonl", rows))}}, where="test"))
    assert opened.recipe.task == "tagging"
    words = [row.values["words"] for part in opened.parts.values() for row in part.rows()]
    assert sorted(words, key=lambda pair: int(pair[1])) == [["New York", str(n)] for n in range(40)]
