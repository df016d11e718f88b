"""What `seqlab predict --file` reads for a run that translates."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import pytest

from seqlab.recipes.recipe import Recipe
from seqlab.runs.data import open_prediction_inputs


def questions(path: Path, **data: Any) -> list[Any]:
    named = {"source": "en", "target": "de", **data}
    return list(
        open_prediction_inputs(
            Recipe.model_validate({"task": "translation", "data": {**named, "text": named["source"]}}),
            str(path),
        )
    )


@pytest.mark.parametrize("beside", ["", "Ein Hund.\n", "eins\n\ndrei\n"])
def test_one_side_of_aligned_files_is_plain_text_whatever_lies_beside_it(beside: str, tmp_path: Path) -> None:
    (tmp_path / "new.en").write_text("A dog, a cat.\n\nTwo, three.\n")
    if beside:
        (tmp_path / "new.de").write_text(beside)
    assert questions(tmp_path / "new.en") == [
        "A dog, a cat.",
        "",
        "Two, three.",
    ]  # the commas make no table of it
    (tmp_path / "packed.en.gz").write_bytes(gzip.compress(b"A dog.\n"))
    assert questions(tmp_path / "packed.en.gz") == ["A dog."]
    (tmp_path / "new.txt").write_text("A dog.\n")
    assert questions(tmp_path / "new.txt") == ["A dog."]


def test_aligned_files_by_their_common_name_and_tables_without_targets_are_read(tmp_path: Path) -> None:
    for side in ("en", "de"):
        (tmp_path / f"both.{side}").write_text(f"{side} 1\n{side} 2\n")
    assert questions(tmp_path / "both") == ["en 1", "en 2"]
    (tmp_path / "some.jsonl").write_text('{"en": "A dog.", "de": "Ein Hund."}\n{"en": "A cat."}\n')
    assert questions(tmp_path / "some.jsonl") == ["A dog.", "A cat."]
    (tmp_path / "some.tmx").write_text(
        '<tmx><body><tu><tuv xml:lang="en-US"><seg>A dog.</seg></tuv></tu></body></tmx>'
    )
    assert questions(tmp_path / "some.tmx") == ["A dog."]
    (tmp_path / "bare.tsv").write_text("A dog.\tmore\nA cat.\tmore\n")
    assert questions(tmp_path / "bare.tsv", source="1", target="2", header=False) == ["A dog.", "A cat."]


def test_a_row_that_says_the_language_is_asked_as_one_would_type_it(tmp_path: Path) -> None:
    (tmp_path / "q.jsonl").write_text(
        '{"en": "A dog: it runs.", "into": "de"}\n{"en": "A cat.", "into": "fr"}\n'
    )
    assert questions(tmp_path / "q.jsonl", language="into") == ["de: A dog: it runs.", "fr: A cat."]
    (tmp_path / "typed.txt").write_text("de: A dog.\n")
    assert questions(tmp_path / "typed.txt", language="into") == ["de: A dog."]
